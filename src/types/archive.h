/*
** archive.h - private: directories and headers of .zip files, read and written.
** SPDX-License-Identifier: MIT
**
** A file is members, each a local header with its name and its bytes; behind them the
** directory, a header for each member; then the end, which says where the directory is.
** What is accepted: one disk, a directory that fills all up to the end, sizes of up to 64
** bits; members stored or deflated, not encrypted, their names in UTF-8. Numbers are
** little endian.
*/
#ifndef MT_TYPES_ARCHIVE_H
#define MT_TYPES_ARCHIVE_H

#include "moontile/types.h"

enum {
  MT_ARCHIVE_STORED = 0,
  MT_ARCHIVE_DEFLATED = 8,
  MT_ARCHIVE_TAIL = 65535 + 22 + 20 + 56, /* of a file: its end lies in so many bytes */
  MT_ARCHIVE_LOCAL = 30,  /* of a local header, without name and extra field */
  MT_ARCHIVE_HEADER = 46, /* of a header of a directory, at most; no name */
  MT_ARCHIVE_END = 22 + 20 + 56,
  MT_ARCHIVE_MOST = 100000000 /* bytes of a directory */
};

/* Where the directory is, and how many members it says. */
typedef struct mt_archive {
  uint64_t directory, bytes, members;
} mt_archive;

typedef struct mt_archive_member {
  uint64_t at;             /* of its local header, in the file */
  uint64_t packed, bytes;  /* of what it has: in the file, and when it is inflated */
  size_t name, name_bytes; /* in the directory */
  uint32_t crc;
  uint16_t method, flags;
} mt_archive_member;

/* From the last bytes of a file, `n` of them: MT_ARCHIVE_TAIL, or all. Errors:
** MT_EFORMAT. */
mt_status mt_archive_find (mt_archive *out, const void *tail, size_t n,
                           uint64_t file_size, mt_err *err);
/* All z->members of them, in the order of the directory. Errors: MT_EFORMAT. */
mt_status mt_archive_read (mt_archive_member *out, const mt_archive *z,
                           const void *directory, mt_err *err);
/* How long a local header is with name and extra field, from its MT_ARCHIVE_LOCAL bytes;
** it is what the directory says of the member, and its bytes end before `end`. */
mt_status mt_archive_local (size_t *length, const void *head, const mt_archive_member *x,
                            uint64_t end, mt_err *err);
/* The name in all of the local header is that of the directory. */
mt_status mt_archive_same_name (const void *head, const mt_archive_member *x,
                                const void *directory, mt_err *err);

/* ---- writing; each returns how many bytes it wrote. */

/* A local header, and how much of it there is; wide: sizes have 64 bits. The name
** follows, then the second part. */
size_t mt_archive_write_local (void *out, const mt_archive_member *x, bool wide);
size_t mt_archive_write_wide (void *out, const mt_archive_member *x, bool wide);
/* A header of the directory: the name comes between the two parts. */
size_t mt_archive_write_header (void *out, const mt_archive_member *x);
size_t mt_archive_write_extra (void *out, const mt_archive_member *x);
/* The end of the file. */
size_t mt_archive_write_end (void *out, const mt_archive *z);

/* ---- the checksum: CRC-32 by tables, which are made first; `crc` of nothing is 0. */

typedef struct mt_crc {
  uint32_t table[8][256];
} mt_crc;
void mt_crc_make (mt_crc *c);
uint32_t mt_crc_add (const mt_crc *c, uint32_t crc, const void *p, size_t n);

#endif
