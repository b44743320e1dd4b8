/*
** archive.c - directories and headers of .zip files.
** SPDX-License-Identifier: MIT
*/
#include "types/archive.h"
#include "core/error.h"
#include "types/utf8.h"

#define BAD(err, ...) mt_fail((err), MT_EFORMAT, "zip: " __VA_ARGS__)
#define WANT(cond, err, ...)                                                             \
  do {                                                                                   \
    if (!(cond)) return BAD(err, __VA_ARGS__);                                           \
  } while (0)

enum {
  LOCAL = 0x04034b50,
  HEADER = 0x02014b50,
  END = 0x06054b50,
  FAR_END = 0x06064b50,
  LOCATOR = 0x07064b50,
  END_BYTES = 22,
  LOCATOR_BYTES = 20,
  FAR_BYTES = 56,
  HEADER_BYTES = 46,
  ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13,
  UTF8 = 1 << 11,
  MOST_RATIO = 1032 /* of what deflate packs */
};
#define MOST 0xffffffffu

/* ---------------------------------------------------------------- numbers */

static uint64_t get (const unsigned char *p, int bytes) {
  uint64_t n = 0;
  while (bytes-- > 0) n = n << 8 | p[bytes];
  return n;
}

static unsigned char *put (unsigned char *p, uint64_t n, int bytes) {
  for (; bytes-- > 0; n >>= 8) *p++ = (unsigned char)n;
  return p;
}

/* ---------------------------------------------------------------- the end */

/* The last end of `n` bytes whose comment fills the rest; NULL: there is none. */
static const unsigned char *find_end (const unsigned char *tail, size_t n) {
  if (n < END_BYTES) return NULL;
  for (const unsigned char *p = tail + n - END_BYTES;; p--) {
    size_t rest = (size_t)(tail + n - p) - END_BYTES;
    if (get(p, 4) == END && get(p + 20, 2) == rest) return p;
    if (p == tail || rest >= 65535) return NULL;
  }
}

/* What says the same in 64 bits, right before the end. `where` is its place. */
static mt_status read_far (mt_archive *z, const unsigned char *far, uint64_t where,
                           mt_err *err) {
  const unsigned char *locator = far + FAR_BYTES;
  WANT(get(far, 4) == FAR_END && get(far + 4, 8) == FAR_BYTES - 12, err,
       "the end in 64 bits is not before its locator");
  WANT(get(locator + 4, 4) == 0 && get(locator + 16, 4) <= 1 && get(far + 16, 4) == 0 &&
           get(far + 20, 4) == 0,
       err, "more than one disk");
  WANT(get(locator + 8, 8) == where, err, "the locator says another place of the end");
  z->members = get(far + 32, 8);
  WANT(get(far + 24, 8) == z->members, err, "more than one disk");
  z->bytes = get(far + 40, 8);
  z->directory = get(far + 48, 8);
  return MT_OK;
}

static mt_status read_end (mt_archive *z, const unsigned char *end, mt_err *err) {
  z->members = get(end + 10, 2);
  WANT(get(end + 4, 2) == 0 && get(end + 6, 2) == 0 && get(end + 8, 2) == z->members, err,
       "more than one disk");
  z->bytes = get(end + 12, 4);
  z->directory = get(end + 16, 4);
  return MT_OK;
}

mt_status mt_archive_find (mt_archive *z, const void *tail, size_t n, uint64_t file_size,
                           mt_err *err) {
  const unsigned char *begin = tail, *end = find_end(begin, n);
  WANT(end != NULL && n <= file_size, err, "no end of a directory: cut off, or no zip");
  uint64_t where = file_size - (uint64_t)(begin + n - end);
  bool far = end - begin >= LOCATOR_BYTES && get(end - LOCATOR_BYTES, 4) == LOCATOR;
  if (far) {
    WANT(end - begin >= LOCATOR_BYTES + FAR_BYTES, err, "cut off before its end");
    where -= LOCATOR_BYTES + FAR_BYTES;
    MT_TRY(read_far(z, end - LOCATOR_BYTES - FAR_BYTES, where, err));
  } else MT_TRY(read_end(z, end, err));
  WANT(z->directory <= where && z->bytes == where - z->directory, err,
       "the directory of %llu bytes at %llu does not end at %llu",
       (unsigned long long)z->bytes, (unsigned long long)z->directory,
       (unsigned long long)where);
  WANT(z->bytes <= MT_ARCHIVE_MOST, err, "a directory of %llu bytes: %d at most",
       (unsigned long long)z->bytes, MT_ARCHIVE_MOST);
  WANT(z->members <= z->bytes / HEADER_BYTES, err, "%llu members in %llu bytes",
       (unsigned long long)z->members, (unsigned long long)z->bytes);
  return MT_OK;
}

/* ---------------------------------------------------------------- headers */

/* A field whose 32 bits are full stands in the extra field, which begins at *p. */
static mt_status take_wide (uint64_t *field, const unsigned char **p,
                            const unsigned char *end, mt_err *err) {
  if (*field != MOST) return MT_OK;
  WANT(end - *p >= 8, err, "a size of 64 bits is missing");
  *field = get(*p, 8);
  *p += 8;
  return MT_OK;
}

static mt_status read_extra (mt_archive_member *x, const unsigned char *p,
                             const unsigned char *end, mt_err *err) {
  bool seen = false;
  while (end - p >= 4) {
    uint64_t id = get(p, 2), n = get(p + 2, 2);
    p += 4;
    WANT(n <= (uint64_t)(end - p), err, "an extra field is cut off");
    if (id == 1 && !seen) {
      const unsigned char *q = p, *to = p + n;
      seen = true;
      MT_TRY(take_wide(&x->bytes, &q, to, err));
      MT_TRY(take_wide(&x->packed, &q, to, err));
      MT_TRY(take_wide(&x->at, &q, to, err));
    }
    p += n;
  }
  return MT_OK;
}

static mt_status check_member (const mt_archive_member *x, uint64_t end, mt_err *err) {
  WANT(!(x->flags & ENCRYPTED), err, "a member is encrypted");
  WANT(x->method == MT_ARCHIVE_STORED || x->method == MT_ARCHIVE_DEFLATED, err,
       "a member is packed by method %d: stored and deflated ones are read", x->method);
  WANT(x->method != MT_ARCHIVE_STORED || x->packed == x->bytes, err,
       "a stored member has two sizes");
  WANT(x->at < end && x->packed <= end - x->at, err, "a member lies outside of the file");
  WANT(x->bytes / MOST_RATIO <= x->packed, err,
       "%llu bytes do not become %llu: deflate packs 1 to %d at most",
       (unsigned long long)x->packed, (unsigned long long)x->bytes, MOST_RATIO);
  return MT_OK;
}

static mt_status check_name (const unsigned char *s, size_t n, int flags, mt_err *err) {
  bool plain = true;
  for (size_t i = 0; i < n; i++) {
    WANT(s[i] >= 32 && s[i] != 127, err, "the name of a member has the character %d",
         s[i]);
    plain = plain && s[i] < 128;
  }
  WANT(plain || ((flags & UTF8) && mt_is_utf8(s, n)), err,
       "the name of a member is no UTF-8");
  return MT_OK;
}

mt_status mt_archive_read (mt_archive_member *out, const mt_archive *z,
                           const void *directory, mt_err *err) {
  const unsigned char *begin = directory, *p = begin, *end = begin + z->bytes;
  for (uint64_t i = 0; i < z->members; i++) {
    mt_archive_member *x = &out[i];
    WANT(end - p >= HEADER_BYTES && get(p, 4) == HEADER, err,
         "member %llu has no header in the directory", (unsigned long long)i + 1);
    size_t name = get(p + 28, 2), extra = get(p + 30, 2), comment = get(p + 32, 2);
    WANT((size_t)(end - p) - HEADER_BYTES >= name + extra + comment, err,
         "the directory is cut off");
    *x = (mt_archive_member){.flags = (uint16_t)get(p + 8, 2),
                             .method = (uint16_t)get(p + 10, 2),
                             .crc = (uint32_t)get(p + 16, 4),
                             .packed = get(p + 20, 4),
                             .bytes = get(p + 24, 4),
                             .at = get(p + 42, 4),
                             .name_bytes = name};
    p += HEADER_BYTES;
    x->name = (size_t)(p - begin);
    MT_TRY(read_extra(x, p + name, p + name + extra, err));
    MT_TRY(check_member(x, z->directory, err));
    MT_TRY(check_name(p, name, x->flags, err));
    p += name + extra + comment;
  }
  WANT(p == end, err, "the directory goes on behind its last member");
  return MT_OK;
}

mt_status mt_archive_local (size_t *length, const void *head, const mt_archive_member *x,
                            uint64_t end, mt_err *err) {
  const unsigned char *p = head;
  WANT(get(p, 4) == LOCAL, err, "a member has no header of its own");
  size_t name = get(p + 26, 2), extra = get(p + 28, 2);
  WANT(get(p + 6, 2) == x->flags && get(p + 8, 2) == x->method && name == x->name_bytes,
       err, "a member's own header is another than that of the directory");
  *length = MT_ARCHIVE_LOCAL + name + extra;
  WANT(end - x->at >= *length && x->packed <= end - x->at - *length, err,
       "members overlap");
  return MT_OK;
}

mt_status mt_archive_same_name (const void *head, const mt_archive_member *x,
                                const void *directory, mt_err *err) {
  const char *own = (const char *)head + MT_ARCHIVE_LOCAL;
  const char *said = (const char *)directory + x->name;
  WANT(memcmp(own, said, x->name_bytes) == 0, err,
       "a member's own name is another than that of the directory");
  return MT_OK;
}

/* ---------------------------------------------------------------- writing */

enum { VERSION = 45, FIRST_DAY = 1 << 5 | 1 }; /* 1980-01-01 */

static uint64_t narrow (uint64_t n, bool wide) { return wide ? MOST : n; }

/* From the version on, as both kinds of headers have it. */
static unsigned char *put_common (unsigned char *p, const mt_archive_member *x,
                                  uint64_t packed, uint64_t bytes, size_t extra) {
  p = put(p, VERSION, 2);
  p = put(p, x->flags, 2);
  p = put(p, x->method, 2);
  p = put(p, 0, 2);
  p = put(p, FIRST_DAY, 2);
  p = put(p, x->crc, 4);
  p = put(p, packed, 4);
  p = put(p, bytes, 4);
  p = put(p, x->name_bytes, 2);
  return put(p, extra, 2);
}

size_t mt_archive_write_local (void *out, const mt_archive_member *x, bool wide) {
  unsigned char *p = put(out, LOCAL, 4);
  p = put_common(p, x, narrow(x->packed, wide), narrow(x->bytes, wide), wide ? 20 : 0);
  return (size_t)(p - (unsigned char *)out);
}

size_t mt_archive_write_wide (void *out, const mt_archive_member *x, bool wide) {
  unsigned char *p = out;
  if (!wide) return 0;
  p = put(put(p, 1, 2), 16, 2);
  p = put(put(p, x->bytes, 8), x->packed, 8);
  return (size_t)(p - (unsigned char *)out);
}

/* Which of bytes, packed and at, in this order, have 64 bits: how many bytes. */
static size_t wide_bytes (const mt_archive_member *x) {
  return 8u * ((x->bytes >= MOST) + (x->packed >= MOST) + (x->at >= MOST));
}

size_t mt_archive_write_header (void *out, const mt_archive_member *x) {
  size_t wide = wide_bytes(x);
  unsigned char *p = put(out, HEADER, 4);
  p = put(p, VERSION, 2);
  p = put_common(p, x, narrow(x->packed, x->packed >= MOST),
                 narrow(x->bytes, x->bytes >= MOST), wide ? wide + 4 : 0);
  p = put(p, 0, 10); /* comment, disk, attributes */
  p = put(p, narrow(x->at, x->at >= MOST), 4);
  return (size_t)(p - (unsigned char *)out);
}

size_t mt_archive_write_extra (void *out, const mt_archive_member *x) {
  size_t wide = wide_bytes(x);
  unsigned char *p = out;
  if (wide == 0) return 0;
  p = put(put(p, 1, 2), wide, 2);
  if (x->bytes >= MOST) p = put(p, x->bytes, 8);
  if (x->packed >= MOST) p = put(p, x->packed, 8);
  if (x->at >= MOST) p = put(p, x->at, 8);
  return (size_t)(p - (unsigned char *)out);
}

static unsigned char *put_far (unsigned char *p, const mt_archive *z) {
  p = put(put(p, FAR_END, 4), FAR_BYTES - 12, 8);
  p = put(put(p, VERSION, 2), VERSION, 2);
  p = put(p, 0, 8);
  p = put(put(p, z->members, 8), z->members, 8);
  p = put(put(p, z->bytes, 8), z->directory, 8);
  p = put(put(p, LOCATOR, 4), 0, 4);
  return put(put(p, z->directory + z->bytes, 8), 1, 4);
}

size_t mt_archive_write_end (void *out, const mt_archive *z) {
  unsigned char *p = out;
  bool far = z->members >= 65535 || z->bytes >= MOST || z->directory >= MOST;
  uint64_t n = far ? 65535 : z->members;
  if (far) p = put_far(p, z);
  p = put(put(p, END, 4), 0, 4);
  p = put(put(p, n, 2), n, 2);
  p = put(put(p, narrow(z->bytes, far), 4), narrow(z->directory, far), 4);
  p = put(p, 0, 2);
  return (size_t)(p - (unsigned char *)out);
}

/* ---------------------------------------------------------------- CRC-32 */

/* table[j][b]: of the byte b with j bytes of 0 behind it. */
void mt_crc_make (mt_crc *c) {
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t r = b;
    for (int i = 0; i < 8; i++) r = r >> 1 ^ (r & 1 ? 0xedb88320u : 0);
    c->table[0][b] = r;
  }
  for (int j = 1; j < 8; j++)
    for (int b = 0; b < 256; b++) {
      uint32_t r = c->table[j - 1][b];
      c->table[j][b] = r >> 8 ^ c->table[0][r & 255];
    }
}

uint32_t mt_crc_add (const mt_crc *c, uint32_t crc, const void *data, size_t n) {
  const unsigned char *p = data;
  uint32_t r = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t x = get(p, 8) ^ r;
    r = 0;
    for (int j = 0; j < 8; j++) r ^= c->table[7 - j][x >> 8 * j & 255];
  }
  for (; n > 0; n--, p++) r = r >> 8 ^ c->table[0][(r ^ *p) & 255];
  return ~r;
}
