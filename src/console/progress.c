/*
** progress.c - a line on the terminal that says how far a call is that takes long.
** SPDX-License-Identifier: MIT
**
** The line stands below the cursor, which stays where it is: what a script has written of
** its own line is not touched. It is erased when the call is over.
*/
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "console/progress.h"
#include "moontile/lua.h"

#define AFTER 0.5 /* seconds that a call takes without a line */
#define EVERY 0.1 /* seconds between two lines */

enum { WIDEST = 80, BAR = 24 };

/* The call at hand. */
static struct line {
  bool begun, drawn;
  double begin, last; /* seconds */
} line;

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- the terminal */

static bool is_terminal (void) {
  const char *term = getenv("TERM");
  return isatty(STDERR_FILENO) && term != NULL && *term != '\0' &&
         strcmp(term, "dumb") != 0;
}

/* Who runs in the background leaves the terminal to others. */
static bool is_ours (void) {
  pid_t group = tcgetpgrp(STDERR_FILENO);
  return group < 0 || group == getpgrp();
}

static int columns (void) {
  struct winsize size;
  bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : WIDEST;
}

static void put (const char *text) {
  ssize_t n = write(STDERR_FILENO, text, strlen(text));
  (void)n;
}

/* ---------------------------------------------------------------- what it says */

/* "12.3 GB/s", "4.56 Gop/s", "789 warps/s" */
static void put_rate (char *out, size_t size, double rate, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int i = 0;
  for (; rate >= 999.5 && i < 5; i++) rate /= 1000;
  int digits = rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0;
  bool bytes = strcmp(unit, "bytes") == 0, ops = strcmp(unit, "operations") == 0;
  if (bytes || ops)
    snprintf(out, size, "%.*f %s%s/s", digits, rate, prefixes[i], bytes ? "B" : "op");
  else snprintf(out, size, "%.*f%s %s/s", i ? digits : 0, rate, prefixes[i], unit);
}

/* "0:07 left", "1:02:03 left", "12 days left" */
static void put_time (char *out, size_t size, double seconds) {
  enum { HOUR = 3600, DAY = 24 * HOUR };
  if (!(seconds < 1000.0 * DAY)) {
    snprintf(out, size, "years left");
  } else if (seconds >= 2 * DAY) {
    snprintf(out, size, "%.0f days left", seconds / DAY);
  } else {
    long s = lround(ceil(seconds)), h = s / HOUR, m = s / 60 % 60;
    if (h > 0) snprintf(out, size, "%ld:%02ld:%02ld left", h, m, s % 60);
    else snprintf(out, size, "%ld:%02ld left", m, s % 60);
  }
}

static void put_bar (char *out, double part) {
  int full = (int)(part * BAR);
  memset(out, '.', BAR);
  memset(out, '#', (size_t)full);
  out[BAR] = '\0';
}

/* Appends two blanks and the word, if that fits. */
static void add (char *text, int room, const char *word) {
  size_t n = strlen(text), w = strlen(word);
  if (n > 0 && n + 2 + w > (size_t)room) return;
  if (n == 0 && w > (size_t)room) return;
  if (n > 0) memcpy(text + n, "  ", 2), n += 2;
  memcpy(text + n, word, w + 1);
}

/* What matters most comes first; what has no room is left out. The last column stays
** free: some terminals go on to the next line behind it. */
static void put_line (char *text, const mt_progress *p, double seconds) {
  char word[WIDEST];
  double part = p->done / p->total, rate = p->done / seconds;
  int room = columns() - 1;
  if (room > WIDEST) room = WIDEST;
  *text = '\0';
  snprintf(word, sizeof word, "%s %.0f %%", p->op, floor(100 * part));
  add(text, room, word);
  if (*text == '\0') return;
  put_time(word, sizeof word, (p->total - p->done) / rate);
  add(text, room, word);
  put_rate(word, sizeof word, rate, p->unit);
  add(text, room, word);
  put_bar(word, part);
  add(text, room, word);
}

/* ---------------------------------------------------------------- drawing */

/* Erases what is below; a line lower, scrolled if need be, and back; keeps the place. */
#define BELOW "\033[J\033D\033M\0337\033D\r"
#define BACK "\0338"

static void draw (const mt_progress *p, double seconds) {
  char text[WIDEST + 1], all[WIDEST + 40];
  put_line(text, p, seconds);
  if (*text == '\0') return;
  snprintf(all, sizeof all, BELOW "%s" BACK, text);
  put(all);
  line.drawn = true;
}

static void erase (void) {
  if (line.drawn) put("\033[J");
  line = (struct line){.begun = false};
}

static void report (void *ud, const mt_progress *p) {
  (void)ud;
  if (p == NULL) {
    erase();
    return;
  }
  double time = now();
  if (!line.begun) line = (struct line){.begun = true, .begin = time, .last = time};
  if (time - line.begin < AFTER || time - line.last < EVERY) return;
  if (!(p->done > 0 && p->total > 0) || !is_ours()) return;
  line.last = time;
  draw(p, time - line.begin);
}

void con_show_progress (lua_State *L) {
  if (is_terminal()) mt_lua_report(L, report, NULL);
}
