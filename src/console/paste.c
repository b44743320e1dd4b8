/*
** paste.c - characters from the terminal; what is pasted is made harmless.
** SPDX-License-Identifier: MIT
**
** A pasted tab would complete, a pasted escape would edit. A terminal that is asked to
** puts ESC [ 200 ~ before what is pasted and ESC [ 201 ~ behind it.
*/
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

#include "console/interrupt.h"
#include "console/paste.h"

enum { ESC = 27, DEL = 127, PATIENCE = 50 }; /* milliseconds until ESC is a key */

static const char begins[] = "\033[200~", ends[] = "\033[201~";

/* ---------------------------------------------------------------- bytes in a row */

static struct row {
  char *bytes;
  size_t first, end, room;
} row;

void con_forget (void) { row.first = row.end = 0; }

/* Without memory the byte is lost. */
static void append (char c) {
  if (row.first == row.end) row.first = row.end = 0;
  if (row.end == row.room) {
    size_t room = 2 * row.room + 256;
    char *bytes = realloc(row.bytes, room);
    if (bytes == NULL) return;
    row.bytes = bytes;
    row.room = room;
  }
  row.bytes[row.end++] = c;
}

/* -------------------------------------------------------------- bytes of the terminal */

static volatile sig_atomic_t continued; /* after Ctrl-Z */
static con_redraw *redraw;

static void on_continued (int number) {
  (void)number;
  continued = 1;
}

void con_redraw_with (con_redraw *f) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_continued;
  sigemptyset(&action.sa_mask);
  sigaction(SIGCONT, &action, NULL);
  redraw = f;
}

void con_drawn (void) { continued = 0; }

static void redraw_if_continued (void) {
  if (!continued || redraw == NULL) return;
  continued = 0;
  redraw();
}

/* Its signal is let in only while this waits: one that came just before is seen. */
bool con_await (void) {
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGCONT);
  sigprocmask(SIG_BLOCK, &signals, &before);
  int n = -1;
  while (n <= 0 && !run_interrupted()) {
    fd_set files;
    redraw_if_continued();
    FD_ZERO(&files);
    FD_SET(STDIN_FILENO, &files);
    n = pselect(STDIN_FILENO + 1, &files, NULL, NULL, NULL, &before);
    if (n < 0 && errno != EINTR) break;
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return n > 0;
}

/* -1: there are no more, or Ctrl-C came. */
static int from_terminal (void) {
  unsigned char c;
  return con_await() && read(STDIN_FILENO, &c, 1) == 1 ? c : -1;
}

static bool comes_soon (void) {
  struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&p, 1, PATIENCE) == 1;
}

/* Behind an ESC: whether the rest of `begins` follows; what does not is appended. */
static bool is_paste (void) {
  char seen[sizeof begins];
  size_t n = 1;
  seen[0] = ESC;
  while (begins[n] != '\0' && comes_soon()) {
    int c = from_terminal();
    if (c < 0) break;
    seen[n] = (char)c;
    n++;
    if (seen[n - 1] != begins[n - 1]) break;
  }
  if (n == strlen(begins) && memcmp(seen, begins, n) == 0) return true;
  for (size_t i = 0; i < n; i++) append(seen[i]);
  return false;
}

static void append_pasted (int c) {
  bool control = (c >= 0 && c < ' ') || c == DEL;
  if (c == '\t') append(' '), append(' ');
  else if (c == '\r' || c == '\n') append('\n');
  else if (!control) append((char)c);
}

/* Appends what is pasted. A sequence that begins like its end, and goes on otherwise, has
** lost its ESC. */
static void read_paste (void) {
  size_t matched = 0;
  while (ends[matched] != '\0') {
    int c = from_terminal();
    if (c < 0) return;
    if (c == ends[matched]) {
      matched++;
      continue;
    }
    for (size_t i = 1; i < matched; i++) append(ends[i]);
    matched = c == ESC;
    if (!matched) append_pasted(c);
  }
}

static int next_byte (void) {
  while (row.first == row.end) {
    int c = from_terminal();
    if (c != ESC) return c;
    if (is_paste()) read_paste();
  }
  return (unsigned char)row.bytes[row.first++];
}

/* ---------------------------------------------------------------- characters */

int con_character (void) {
  mbstate_t state;
  wchar_t wide;
  memset(&state, 0, sizeof state);
  for (;;) {
    int c = next_byte();
    if (c < 0) return -1;
    char byte = (char)c;
    size_t n = mbrtowc(&wide, &byte, 1, &state);
    if (n == (size_t)-2) continue;
    return n == (size_t)-1 ? '?' : (int)wide;
  }
}
