/*
** extend.h - a host's own kernels on a GPU, in rows beside ours.
** SPDX-License-Identifier: MIT
**
** A kernel has one parameter: what a launch is, as descriptors have it, without layouts.
** It is compiled against the headers that `cmake --install` puts into
** share/moontile/cuda, where our own kernels are, too:
**   // my.cu: nvcc -std=c++17 -fatbin -I share/moontile/cuda -arch=sm_80 my.cu
**   #include "kernels/gemm/mma.cuh"
**   namespace mt { struct my_op { ... static MT_INLINE void run (...) }; }  // as ptx.cuh
**   extern "C" __global__ void my_product (const __grid_constant__ mt_gemm_launch p) {
**     mt::product<mt::my_op>(p);
**   }
** A copy has an mt_launch: mt::copy<MT_ALGO_STRIDED, 16, 4>(p) of kernels/copy/algos.cuh
** is ours. The host loads the fatbin as it likes, and hands over its bytes.
** examples/own_kernel.cu and host_kernel.c are one.
*/
#ifndef MOONTILE_EXTEND_H
#define MOONTILE_EXTEND_H

#include "moontile/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of what launches are; counted up when a descriptor changes. */
enum { MT_LAUNCH_ABI = 1 };

/* A kernel of the image. atom: of a product, the MMA atom that it executes, by its name:
** one of ours, or of the host's own (mt_mma_atom_make); NULL: it copies. algorithm: of a
** copy, how, as plan:why() names ours ("strided", "described", "transpose"). */
typedef struct mt_kernel_row {
  const char *name; /* of the function in the image */
  const char *atom, *algorithm;
  int arch;    /* the least that it runs on: 80 is sm_80 */
  int bytes;   /* of a copy: of one access */
  int threads; /* of a block of a copy; "described": the most that it may have */
  int unroll;  /* accesses of a thread in flight */
} mt_kernel_row;

/* Adds the kernels of an image, a fatbin or cubin, to the device. From then on they are
** taken before ours: products by a tiled MMA of that atom, copies of elements as they are
** by that algorithm and access. What is launched is proven as ever. The image is copied
** by the driver, rows are copied here; both last until the device is closed. abi:
** MT_LAUNCH_ABI. Errors: MT_EINVAL (another ABI, an unknown algorithm, a row that is
** neither, `d` is no GPU, an image or a function that the driver does not take),
** MT_EUNSUPPORTED (the GPU is older), MT_ENOMEM, MT_ELOST. */
MT_API mt_status mt_device_add_kernels (mt_device *d, int abi, const void *image,
                                        const mt_kernel_row *rows, int n, mt_err *err);

#ifdef __cplusplus
}
#endif

#endif
