/*
** image.S - the kernels, embedded: for each operation a file and a zero byte.
** SPDX-License-Identifier: MIT
**
** MT_IMAGE_COPY, MT_IMAGE_MMA: the fatbins. Without nvcc the lists of kernels: that of
** the copies, MT_IMAGE_CAST behind it, those of the products.
*/
#ifdef __CET__
#include <cet.h>                /* there is no code here that it could not protect */
#endif
        .macro  image name, file, more
        .balign 64
        .globl  \name
        .hidden \name
        .type   \name, %object
\name:
        .incbin "\file"
        .ifnb   \more
        .incbin "\more"
        .endif
        .byte   0
        .size   \name, . - \name
        .endm

        .section .rodata
#ifdef MT_IMAGE_CAST
        image   mt_image_copy, MT_IMAGE_COPY, MT_IMAGE_CAST
#else
        image   mt_image_copy, MT_IMAGE_COPY
#endif
        image   mt_image_mma, MT_IMAGE_MMA
        image   mt_image_ampere, MT_IMAGE_AMPERE
        image   mt_image_hopper, MT_IMAGE_HOPPER
        image   mt_image_pack, MT_IMAGE_PACK
        image   mt_image_pipeline, MT_IMAGE_PIPELINE
        .section .note.GNU-stack, "", %progbits
