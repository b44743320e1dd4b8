/*
** vm_server.c - a host like a server: eight threads, each with an interpreter of its own.
** SPDX-License-Identifier: MIT
**
** vm_server [THREADS [REQUESTS]]: requests are scripts, taken from one list. A VM serves
** many of them; after one that failed it is opened anew, so that no request finds what a
** bad one has left. Prints requests per second.
*/
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "moontile/vm.h"

static const char *const requests[] =
    {"return tile.layout({ 4, 8 }, { 8, 1 })(3, 5)",
     "local A = tile.layout '(4,6,8):(2,3,5)' return #(A / 4)",
     "local t = tile.tensor('f32', tile.layout { 16, 16 }):fill(2)\n"
     "local u = tile.tensor('f32', tile.layout { 16, 16 })\n"
     "tile.gemm(t, t, u) return u(3, 4)",
     "local s = 0 for i = 1, 1000 do s = s + i end return s",
     "return tile.no_such_function(1)"};
enum { REQUESTS = sizeof requests / sizeof *requests, MOST_THREADS = 64 };

typedef struct server {
  atomic_int next;
  int total;
  atomic_int failed;
} server;

static void serve_one (mt_vm **v, server *s, const char *text) {
  mt_err err = MT_NOERR;
  if (*v == NULL && mt_vm_open(v, NULL, &err) != MT_OK) return;
  if (mt_vm_run(*v, "request", text, strlen(text), &err) == MT_OK) return;
  atomic_fetch_add(&s->failed, 1);
  mt_vm_close(*v);
  *v = NULL;
}

static void *serve (void *arg) {
  server *s = arg;
  mt_vm *v = NULL;
  for (int i; (i = atomic_fetch_add(&s->next, 1)) < s->total;)
    serve_one(&v, s, requests[i % REQUESTS]);
  mt_vm_close(v);
  return NULL;
}

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main (int argc, char **argv) {
  pthread_t thread[MOST_THREADS];
  int n = argc > 1 ? atoi(argv[1]) : 8, started = 0;
  server s = {.total = argc > 2 ? atoi(argv[2]) : 2000};
  double begin = now();
  if (n < 1 || n > MOST_THREADS) return EXIT_FAILURE;
  while (started < n && pthread_create(&thread[started], NULL, serve, &s) == 0) started++;
  for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
  double took = now() - begin;
  printf("%d threads: %d requests in %.2f s, %.0f a second; %d were wrong, as they are\n",
         started, s.total, took, s.total / took, atomic_load(&s.failed));
  return atomic_load(&s.failed) == s.total / REQUESTS ? EXIT_SUCCESS : EXIT_FAILURE;
}
