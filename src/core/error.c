/*
** error.c - statuses by name, and the texts of failures.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/layout.h"
#include "core/error.h"
#include "core/strbuf.h"

enum { MT_VALUETEXT = 160 }; /* longer values are cut in messages */

const char *mt_status_name (mt_status s) {
#define MT_STATUS_STRING(name, text) #name,
  static const char *const names[] = {MT_STATUSES(MT_STATUS_STRING)};
#undef MT_STATUS_STRING
  return (unsigned)s < MT_NSTATUS ? names[s] : "MT_E?";
}

const char *mt_status_text (mt_status s) {
#define MT_STATUS_STRING(name, text) text,
  static const char *const texts[] = {MT_STATUSES(MT_STATUS_STRING)};
#undef MT_STATUS_STRING
  return (unsigned)s < MT_NSTATUS ? texts[s] : "unknown status";
}

const char *mt_strerror (mt_status s) { return mt_status_text(s); }

const char *mt_version (void) { return MT_VERSION; }

mt_status mt_fail (mt_err *err, mt_status s, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  err->status = s;
  vsnprintf(err->text, sizeof err->text, format, ap);
  va_end(ap);
  return s;
}

void mt_forgive (mt_err *err) {
  err->status = MT_OK;
  err->text[0] = 0;
}

bool mt_stopped (mt_err *err, const char *op) {
  mt_stint_tell(err);
  if (err->stop == NULL || !err->stop(err->stop_ud)) return false;
  mt_fail(err, MT_ESTOPPED, "%s: %s", op, mt_status_text(MT_ESTOPPED));
  return true;
}

static void put_value (mt_strbuf *t, const mt_node *v) {
  char s[MT_VALUETEXT + 4];
  if (mt_format(s, MT_VALUETEXT + 1, v) > MT_VALUETEXT) strcpy(s + MT_VALUETEXT, "...");
  mt_put(t, s);
}

/* One directive of mt_failn, the '%' behind us; returns what follows it. */
static const char *put_directive (mt_strbuf *t, const char *f, va_list *ap) {
  char s[24];
  if (*f == 'N') {
    put_value(t, va_arg(*ap, const mt_node *));
  } else if (*f == 's') {
    mt_put(t, va_arg(*ap, const char *));
  } else if (*f == 'd') {
    snprintf(s, sizeof s, "%d", va_arg(*ap, int));
    mt_put(t, s);
  } else if (strncmp(f, "lld", 3) == 0) {
    snprintf(s, sizeof s, "%lld", va_arg(*ap, long long));
    mt_put(t, s);
    f += 2;
  } else if (strncmp(f, "zu", 2) == 0) {
    snprintf(s, sizeof s, "%zu", va_arg(*ap, size_t));
    mt_put(t, s);
    f += 1;
  } else {
    mt_put(t, "%");
  }
  return f + 1;
}

mt_status mt_vfailn (mt_err *err, mt_status s, size_t at, const char *format,
                     va_list ap) {
  char buf[MT_ERRSIZE]; /* arguments may point into err->text */
  mt_strbuf t = {buf, sizeof buf - at, 0};
  va_list args;
  va_copy(args, ap);
  for (const char *f = format; *f;) {
    char c[2] = {*f++, 0};
    if (c[0] == '%') f = put_directive(&t, f, &args);
    else mt_put(&t, c);
  }
  va_end(args);
  mt_put_end(&t);
  memcpy(err->text + at, buf, (t.n < t.size ? t.n : t.size - 1) + 1);
  err->status = s;
  return s;
}

mt_status mt_failn (mt_err *err, mt_status s, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  mt_vfailn(err, s, 0, format, ap);
  va_end(ap);
  return s;
}

mt_status mt_renamed (const char *op, mt_status s, mt_err *err) {
  const char *rest = strstr(err->text, ": ");
  return s == MT_OK || rest == NULL ? s : mt_failn(err, s, "%s%s", op, rest);
}

void mt_explain (mt_err *err, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  mt_vfailn(err, err->status, strlen(err->text), format, ap);
  va_end(ap);
}
