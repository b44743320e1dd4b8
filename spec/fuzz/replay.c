/*
** replay.c - runs a fuzz target without a fuzzer: over the files and folders that are its
** arguments, each as it is, cut at every length up to 512, and with single bytes changed.
** SPDX-License-Identifier: MIT
*/
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum { MAXFILE = 1 << 20, CUTS = 512 };

static long inputs;

/* Runs a copy of exactly `size` bytes. */
static void run (const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size + !size);
  if (!copy) exit(2);
  memcpy(copy, data, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
  inputs++;
}

static void mutate (uint8_t *data, size_t size) {
  static const uint8_t bytes[] = {0,   255, ' ', '9', '0', '-', '(',
                                  ')', ',', ':', '@', '_', '\''};
  for (size_t i = 0; i < size && i < CUTS; i++) {
    uint8_t old = data[i];
    for (size_t k = 0; k < sizeof bytes; k++) {
      data[i] = bytes[k];
      run(data, size);
    }
    data[i] = old ^ 1;
    run(data, size);
    data[i] = old;
    run(data, i);
  }
}

static int replay_file (const char *path) {
  static uint8_t data[MAXFILE];
  FILE *f = fopen(path, "rb");
  if (!f) return perror(path), 1;
  size_t n = fread(data, 1, sizeof data, f);
  fclose(f);
  run(data, n);
  mutate(data, n);
  return 0;
}

static int replay (const char *path) {
  DIR *dir = opendir(path);
  if (!dir) return replay_file(path);
  int failed = 0;
  for (struct dirent *e; (e = readdir(dir));) {
    char name[4096];
    if (e->d_name[0] == '.') continue;
    snprintf(name, sizeof name, "%s/%s", path, e->d_name);
    failed |= replay_file(name);
  }
  closedir(dir);
  return failed;
}

int main (int argc, char **argv) {
  int failed = argc < 2;
  for (int i = 1; i < argc; i++) failed |= replay(argv[i]);
  printf("%ld inputs\n", inputs);
  return failed || !inputs;
}
