/*
** fakeown.c - images of a host's own, as the fake driver has them.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "fakecuda.h"

static const char mark[] = "OWN_KERNEL(";

const mt_mma_atom *fake_atom;
void fakecuda_atom (const mt_mma_atom *own) { fake_atom = own; }

bool fake_is_own (const char *text) { return text && strstr(text, mark); }

/* What the function does, in `like`; false: there is no such function. */
static bool find (char like[64], const char *text, const char *name) {
  char own[128], as[64];
  for (const char *p = text; (p = strstr(p, mark)) != NULL; p++)
    if (sscanf(p, "OWN_KERNEL(%127[^,], %63[^)])", own, as) == 2 &&
        strcmp(own, name) == 0)
      return strcpy(like, as), true;
  return false;
}

CUresult fake_own_kernel (CUkernel *out, const char *text, const char *name) {
  char like[64];
  NEED(find(like, text, name), 500);
  for (size_t i = 0; i < mt_ncuda_kernels; i++)
    if (strcmp(mt_cuda_kernels[i].name, like) == 0)
      return *out = (CUkernel)(void *)(uintptr_t)&mt_cuda_kernels[i], 0;
  return 500;
}
