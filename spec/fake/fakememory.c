/*
** fakememory.c - device memory of the fake driver: apart from the host's, exact in size,
** full of garbage, limited.
** SPDX-License-Identifier: MIT
*/
#include <pthread.h>
#include <stdlib.h>

#include "fakecuda.h"

typedef struct block {
  struct block *next;
  char *data;
  size_t bytes;
  int device;
  bool set;
} block;

static block *blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

size_t fake_memory (void) { return (size_t)fake_option("FAKECUDA_MEMORY", 1 << 30); }

static size_t used (int device) {
  size_t n = 0;
  for (block *b = blocks; b != NULL; b = b->next)
    if (b->device == device) n += b->bytes;
  return n;
}

static block *block_new (int device, size_t bytes) {
  void *data = NULL;
  block *b = malloc(sizeof *b);
  if (b == NULL || posix_memalign(&data, 256, bytes) != 0) {
    free(b);
    return NULL;
  }
  memset(data, 0xA5, bytes);
  *b = (block){blocks, data, bytes, device, false};
  return b;
}

CUresult fake_alloc (CUdeviceptr *out, int device, size_t bytes) {
  if (bytes == 0) return 1;
  pthread_mutex_lock(&lock);
  size_t n = used(device), all = fake_memory();
  block *b = n > all || bytes > all - n ? NULL : block_new(device, bytes);
  if (b != NULL) blocks = b;
  pthread_mutex_unlock(&lock);
  if (b == NULL) return 2;
  *out = (CUdeviceptr)(uintptr_t)b->data | FAKE_TAG;
  return 0;
}

static bool holds (const block *b, const char *p) {
  return p >= b->data && p < b->data + b->bytes;
}

static block **find (const char *p) {
  block **b = &blocks;
  while (*b != NULL && !holds(*b, p)) b = &(*b)->next;
  return b;
}

static char *untag (CUdeviceptr p) {
  return (p & FAKE_TAG) ? (char *)(uintptr_t)(p & ~FAKE_TAG) : NULL;
}

CUresult fake_free (CUdeviceptr p) {
  if (p == 0) return 0;
  pthread_mutex_lock(&lock);
  block **b = find(untag(p)), *gone = *b;
  if (gone != NULL && gone->data == untag(p)) *b = gone->next;
  else gone = NULL;
  pthread_mutex_unlock(&lock);
  if (gone == NULL) return 1;
  free(gone->data);
  free(gone);
  return 0;
}

void *fake_host (CUdeviceptr p, int device, size_t bytes, size_t *room) {
  char *q = untag(p);
  pthread_mutex_lock(&lock);
  block *b = *find(q);
  if (b != NULL && device >= 0 && (b->device != device || !b->set)) b = NULL;
  size_t have = b == NULL ? 0 : b->bytes - (size_t)(q - b->data);
  pthread_mutex_unlock(&lock);
  if (room != NULL) *room = have;
  return b == NULL || bytes > have ? NULL : q;
}

void fake_fill (CUdeviceptr p, size_t bytes) {
  pthread_mutex_lock(&lock);
  block *b = *find(untag(p));
  if (b != NULL && b->data == untag(p) && b->bytes == bytes) b->set = true;
  pthread_mutex_unlock(&lock);
}

/* ---------------------------------------------------------------- page-locked */

typedef struct locked {
  struct locked *next;
  char *data;
  size_t bytes;
} locked;

static locked *all_locked;

CUresult fake_lock (void **out, size_t bytes) {
  void *data = NULL;
  size_t n = bytes, most = (size_t)fake_option("FAKECUDA_LOCKED", 1 << 30);
  for (locked *l = all_locked; l != NULL; l = l->next) n += l->bytes;
  if (bytes == 0) return 1;
  if (n > most || posix_memalign(&data, 4096, bytes) != 0) return 2;
  locked *l = malloc(sizeof *l);
  if (l == NULL) return free(data), 2;
  memset(data, 0x5A, bytes);
  *l = (locked){all_locked, data, bytes};
  all_locked = l;
  return *out = data, 0;
}

CUresult fake_unlock (void *p) {
  locked **l = &all_locked, *gone;
  while (*l != NULL && (*l)->data != p) l = &(*l)->next;
  if ((gone = *l) == NULL) return 1;
  *l = gone->next;
  free(gone->data);
  free(gone);
  return 0;
}

bool fake_is_locked (const void *p) {
  for (locked *l = all_locked; l != NULL; l = l->next)
    if ((const char *)p >= l->data && (const char *)p < l->data + l->bytes) return true;
  return false;
}

void fakecuda_forget (void) {
  while (blocks != NULL) fake_free((CUdeviceptr)(uintptr_t)blocks->data | FAKE_TAG);
  while (all_locked != NULL) fake_unlock(all_locked->data);
}

int fake_live_locked (void) {
  int n = 0;
  for (locked *l = all_locked; l != NULL; l = l->next) n++;
  return n;
}

void fake_live_memory (int *allocations, size_t *bytes) {
  *allocations = 0, *bytes = 0;
  pthread_mutex_lock(&lock);
  for (block *b = blocks; b != NULL; b = b->next) ++*allocations, *bytes += b->bytes;
  pthread_mutex_unlock(&lock);
}
