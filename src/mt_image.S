/*
** mt_image.S - the kernels, embedded: for each operation a file and a zero byte.
** SPDX-License-Identifier: MIT
**
** MT_IMAGE_COPY, MT_IMAGE_MMA: the fatbins, or kernels.def when there is no nvcc.
*/
        .macro  image name, file
        .balign 64
        .globl  \name
        .hidden \name
        .type   \name, %object
\name:
        .incbin "\file"
        .byte   0
        .size   \name, . - \name
        .endm

        .section .rodata
        image   mt_image_copy, MT_IMAGE_COPY
        image   mt_image_mma, MT_IMAGE_MMA
        .section .note.GNU-stack, "", %progbits
