/*
** spec.h - what the tests of the CUDA backend share: the fake driver, checks, a copy.
** SPDX-License-Identifier: MIT
*/
#ifndef SPEC_H
#define SPEC_H

#include <stdio.h>
#include <stdlib.h>

#include "../fake/fakecuda.h"
#include "moontile.h"

/* Failed checks go to stderr with their place and text; main returns their number. */
extern int spec_failures;
void spec_fail (const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define EXPECT(cond, ...)                                                                \
  do {                                                                                   \
    if (!(cond)) spec_fail(__FILE__, __LINE__, __VA_ARGS__);                             \
  } while (0)
#define EXPECT_STATUS(status, wanted, err)                                               \
  EXPECT((status) == (wanted), "%s instead of %s: %s", mt_status_name(status),           \
         mt_status_name(wanted), (err).text)
#define EXPECT_TEXT(err, part)                                                           \
  EXPECT(strstr((err).text, (part)) != NULL, "no \"%s\" in: %s", (part), (err).text)

/* The fake driver: its path, and what it tells. */
extern const char *fake_path;
extern void (*fake_count)(fakecuda_live *out);
extern int (*fake_calls)(const char *name);
extern void (*fake_restart)(void);
extern void (*fake_forget)(void);
void *fake_symbol (const char *name);                /* of it, by dlsym */
void fake_set (const char *name, const char *value); /* the environment; NULL: unset */

/* Options with the fake driver and an allocator that counts. */
extern long spec_host_bytes;
mt_status spec_open (mt_device **out, const char *name, mt_err *err);
/* The fake driver's device, with pieces of so many bytes. */
mt_status spec_open_pieces (mt_device **out, size_t piece, mt_err *err);
/* That nothing is alive, in the driver and on the host. */
void spec_expect_clean (const char *what);

/* A plan that copies `bytes` bytes, 16 at a time. */
void spec_plan (mt_plan *p, mt_device *d, void *dst, void *src, size_t bytes);

void spec_refusals (void);
void spec_devices (void);
void spec_faults (void);
void spec_copies (void);
void spec_graphs (void);
void spec_lent (void);
void spec_beside (void);
void spec_extend (void);
void spec_choices (void);
void spec_transfers (void);
void spec_ended (void);
void spec_transfer_pairs (void);

#endif
