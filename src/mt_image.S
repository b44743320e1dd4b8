/*
** mt_image.S - the kernels, embedded: the file MT_IMAGE_FILE and a zero byte.
** SPDX-License-Identifier: MIT
**
** MT_IMAGE_FILE is the fatbin, or kernels.def when there is no nvcc.
*/
        .section .rodata
        .balign 64
        .globl  mt_image
        .hidden mt_image
        .type   mt_image, %object
mt_image:
        .incbin MT_IMAGE_FILE
        .globl  mt_image_end
        .hidden mt_image_end
mt_image_end:
        .byte   0
        .size   mt_image, . - mt_image
        .section .note.GNU-stack, "", %progbits
