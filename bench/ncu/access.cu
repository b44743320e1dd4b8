/*
** access.cu - one warp, one access: each line of cases.txt as a kernel, for ncu to count.
** usage: access cases.txt
** SPDX-License-Identifier: MIT
**
** Kernel i of the run is line i of the file. Each executes the access that is counted
** once; what else it does has other counters: a read from shared memory is preceded by
** writes, a write is followed by reads, offsets come from constant memory. The data that
** moved is checked; the exit status says so.
*/
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { WARP = 32, SHARED = 16384, MEMORY = 65536, WORDS = 4 };

struct request {
  int threads;
  uint32_t at[WARP]; /* the byte where a thread begins */
};

/* ---------------------------------------------------------------- instructions */

/* load<bytes>(d, address), store<bytes>(address, d): volatile, so that they stay. */
#define ACCESS(space, A, bytes, type, reg, cast)                                         \
  template <> struct space##_access<bytes> {                                             \
    static __device__ void load (uint32_t *d, A a) {                                     \
      cast v;                                                                            \
      asm volatile("ld." #space "." type " %0, [%1];"                                    \
                   : "=" reg(v)                                                          \
                   : space##_reg(a)                                                      \
                   : "memory");                                                          \
      d[0] = v;                                                                          \
    }                                                                                    \
    static __device__ void store (A a, const uint32_t *d) {                              \
      cast v = (cast)d[0];                                                               \
      asm volatile("st." #space "." type " [%0], %1;" ::space##_reg(a), reg(v)           \
                   : "memory");                                                          \
    }                                                                                    \
  };
#define ACCESS2(space, A)                                                                \
  template <> struct space##_access<8> {                                                 \
    static __device__ void load (uint32_t *d, A a) {                                     \
      asm volatile("ld." #space ".v2.u32 {%0, %1}, [%2];"                                \
                   : "=r"(d[0]), "=r"(d[1])                                              \
                   : space##_reg(a)                                                      \
                   : "memory");                                                          \
    }                                                                                    \
    static __device__ void store (A a, const uint32_t *d) {                              \
      asm volatile("st." #space ".v2.u32 [%0], {%1, %2};" ::space##_reg(a), "r"(d[0]),   \
                   "r"(d[1])                                                             \
                   : "memory");                                                          \
    }                                                                                    \
  };
#define ACCESS4(space, A)                                                                \
  template <> struct space##_access<16> {                                                \
    static __device__ void load (uint32_t *d, A a) {                                     \
      asm volatile("ld." #space ".v4.u32 {%0, %1, %2, %3}, [%4];"                        \
                   : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                      \
                   : space##_reg(a)                                                      \
                   : "memory");                                                          \
    }                                                                                    \
    static __device__ void store (A a, const uint32_t *d) {                              \
      asm volatile("st." #space ".v4.u32 [%0], {%1, %2, %3, %4};" ::space##_reg(a),      \
                   "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3])                            \
                   : "memory");                                                          \
    }                                                                                    \
  };
#define shared_reg(a) "r"(a)
#define global_reg(a) "l"(a)

template <int BYTES> struct shared_access;
template <int BYTES> struct global_access;
ACCESS(shared, uint32_t, 1, "u8", "h", uint16_t)
ACCESS(shared, uint32_t, 2, "u16", "h", uint16_t)
ACCESS(shared, uint32_t, 4, "u32", "r", uint32_t)
ACCESS2(shared, uint32_t)
ACCESS4(shared, uint32_t)
ACCESS(global, char *, 1, "u8", "h", uint16_t)
ACCESS(global, char *, 2, "u16", "h", uint16_t)
ACCESS(global, char *, 4, "u32", "r", uint32_t)
ACCESS2(global, char *)
ACCESS4(global, char *)

/* ---------------------------------------------------------------- kernels */

__host__ __device__ static uint32_t pattern (uint32_t word) {
  return word * 2654435761u + 1;
}

/* What thread `lane` writes in its word i; the bytes of it differ between threads. */
__host__ __device__ static uint32_t written (uint32_t lane, uint32_t i) {
  return (lane + 1) * 0x01010101u ^ i << 28;
}

static __device__ uint32_t fill (void) {
  __shared__ __align__(1024) uint32_t smem[SHARED / 4];
  for (uint32_t i = threadIdx.x; i < SHARED / 4; i += WARP)
    *(volatile uint32_t *)&smem[i] = pattern(i);
  __syncwarp();
  return (uint32_t)__cvta_generic_to_shared(smem);
}

static __device__ uint32_t no_fill (void) {
  __shared__ __align__(1024) uint32_t smem[SHARED / 4];
  return (uint32_t)__cvta_generic_to_shared(smem);
}

template <int BYTES>
__global__ void read_shared (const __grid_constant__ request r, uint32_t *out) {
  uint32_t base = fill(), d[WORDS] = {0, 0, 0, 0};
  if (threadIdx.x < r.threads) shared_access<BYTES>::load(d, base + r.at[threadIdx.x]);
  for (int i = 0; i < WORDS; i++) out[threadIdx.x * WORDS + i] = d[i];
}

template <int MATRICES>
__global__ void ldmatrix (const __grid_constant__ request r, uint32_t *out) {
  uint32_t a = fill() + r.at[threadIdx.x], d[WORDS] = {0, 0, 0, 0};
  if (MATRICES == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(d[0])
                 : "r"(a)
                 : "memory");
  else if (MATRICES == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a)
                 : "memory");
  for (int i = 0; i < WORDS; i++) out[threadIdx.x * WORDS + i] = d[i];
}

template <int BYTES>
__global__ void write_shared (const __grid_constant__ request r, uint32_t *out) {
  uint32_t base = no_fill(), lane = threadIdx.x, d[WORDS];
  for (int i = 0; i < WORDS; i++) d[i] = written(lane, i);
  if (lane < r.threads) shared_access<BYTES>::store(base + r.at[lane], d);
  __syncwarp();
  for (int i = 0; i < WORDS; i++) d[i] = 0;
  if (lane < r.threads) shared_access<BYTES>::load(d, base + r.at[lane]);
  for (int i = 0; i < WORDS; i++) out[lane * WORDS + i] = d[i];
}

template <int BYTES>
__global__ void read_global (const __grid_constant__ request r, uint32_t *out, char *in) {
  uint32_t d[WORDS] = {0, 0, 0, 0};
  if (threadIdx.x < r.threads) global_access<BYTES>::load(d, in + r.at[threadIdx.x]);
  for (int i = 0; i < WORDS; i++) out[threadIdx.x * WORDS + i] = d[i];
}

template <int BYTES>
__global__ void write_global (const __grid_constant__ request r, char *out) {
  uint32_t d[WORDS];
  for (int i = 0; i < WORDS; i++) d[i] = written(threadIdx.x, i);
  if (threadIdx.x < r.threads) global_access<BYTES>::store(out + r.at[threadIdx.x], d);
}

/* ---------------------------------------------------------------- host */

struct line {
  char name[64], kind[16];
  int bytes, wavefronts, sectors;
  request r;
};

static void check (cudaError_t e) {
  if (e == cudaSuccess) return;
  fprintf(stderr, "access: %s\n", cudaGetErrorString(e));
  exit(2);
}

static bool read_line (FILE *f, line *c) {
  memset(c, 0, sizeof *c);
  if (fscanf(f, "%63s %15s %d %d %d %d", c->name, c->kind, &c->bytes, &c->r.threads,
             &c->wavefronts, &c->sectors) != 6)
    return false;
  uint32_t limit = c->kind[0] == 'g' ? MEMORY : SHARED;
  if (c->r.threads < 1 || c->r.threads > WARP) exit(2);
  for (int i = 0; i < c->r.threads; i++)
    if (fscanf(f, "%u", &c->r.at[i]) != 1 || c->r.at[i] + 16 > limit) exit(2);
  for (int i = c->r.threads; i < WARP; i++) c->r.at[i] = c->r.at[0];
  return true;
}

struct memory {
  uint32_t *out; /* WORDS of each thread */
  char *device;  /* MEMORY bytes */
  char *host;    /* what a read finds there */
};

#define BY_BYTES(f, ...)                                                                 \
  switch (c->bytes) {                                                                    \
    case 1: f<1><<<1, WARP>>>(__VA_ARGS__); break;                                       \
    case 2: f<2><<<1, WARP>>>(__VA_ARGS__); break;                                       \
    case 4: f<4><<<1, WARP>>>(__VA_ARGS__); break;                                       \
    case 8: f<8><<<1, WARP>>>(__VA_ARGS__); break;                                       \
    default: f<16><<<1, WARP>>>(__VA_ARGS__);                                            \
  }

static void launch (const line *c, const memory *m) {
  if (strcmp(c->kind, "read") == 0) {
    BY_BYTES(read_shared, c->r, m->out)
  } else if (strcmp(c->kind, "write") == 0) {
    BY_BYTES(write_shared, c->r, m->out)
  } else if (strcmp(c->kind, "gread") == 0) {
    BY_BYTES(read_global, c->r, m->out, m->device)
  } else if (strcmp(c->kind, "gwrite") == 0) {
    BY_BYTES(write_global, c->r, m->device)
  } else if (c->r.threads == 8) {
    ldmatrix<1><<<1, WARP>>>(c->r, m->out);
  } else if (c->r.threads == 16) {
    ldmatrix<2><<<1, WARP>>>(c->r, m->out);
  } else {
    ldmatrix<4><<<1, WARP>>>(c->r, m->out);
  }
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

/* The `bytes` at p, from the n-th 32-bit word on. */
static uint32_t word_of (const char *p, int n, int bytes) {
  uint32_t v = 0;
  memcpy(&v, p + 4 * n, bytes < 4 ? bytes : 4);
  return v;
}

/* Whether v is what some thread wrote at the place of `lane`. */
static bool was_written (const line *c, int lane, int n, uint32_t v) {
  for (int t = 0; t < c->r.threads; t++) {
    uint32_t d = written(t, n);
    if (c->r.at[t] == c->r.at[lane] && word_of((char *)&d, 0, c->bytes) == v) return true;
  }
  return false;
}

static bool right (const line *c, const memory *m, const uint32_t *out,
                   const char *bytes) {
  int words = c->bytes < 4 ? 1 : c->bytes / 4;
  bool matrices = strcmp(c->kind, "ldmatrix") == 0;
  if (matrices) words = c->r.threads / 8;
  for (int t = 0; t < (matrices ? WARP : c->r.threads); t++)
    for (int i = 0; i < words; i++) {
      uint32_t v = out[t * WORDS + i];
      if (matrices) {
        uint32_t at = c->r.at[8 * i + t / 4] + 4 * (t % 4);
        if (v != word_of(m->host + at, 0, 4)) return false;
      } else if (strstr(c->kind, "write")) {
        if (c->kind[0] == 'g') v = word_of(bytes + c->r.at[t], i, c->bytes);
        if (!was_written(c, t, i, v)) return false;
      } else if (v != word_of(m->host + c->r.at[t], i, c->bytes)) {
        return false;
      }
    }
  return true;
}

int main (int argc, char **argv) {
  static uint32_t out[WARP * WORDS];
  static char bytes[MEMORY], host[MEMORY];
  memory m = {NULL, NULL, host};
  line c;
  int wrong = 0, n = 0;
  FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (f == NULL) return fprintf(stderr, "usage: access cases.txt\n"), 2;
  for (uint32_t i = 0; i < MEMORY / 4; i++) {
    uint32_t v = pattern(i);
    memcpy(host + 4 * i, &v, 4);
  }
  check(cudaMalloc(&m.out, sizeof out));
  check(cudaMalloc(&m.device, MEMORY));
  for (; read_line(f, &c); n++) {
    check(cudaMemcpy(m.device, host, MEMORY, cudaMemcpyHostToDevice));
    launch(&c, &m);
    check(cudaMemcpy(out, m.out, sizeof out, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(bytes, m.device, MEMORY, cudaMemcpyDeviceToHost));
    if (right(&c, &m, out, bytes)) continue;
    printf("%s: wrong data\n", c.name);
    wrong++;
  }
  printf("%d accesses, %d with wrong data\n", n, wrong);
  return wrong > 0 || n == 0;
}
