/*
** mma_number.h - private: the arithmetic of instructions, on the processor.
** SPDX-License-Identifier: MIT
**
** Operands are doubles: they hold each value of each type of an atom exactly.
*/
#ifndef MT_ATOM_MMA_NUMBER_H
#define MT_ATOM_MMA_NUMBER_H

#include "moontile/atom.h"
#include "core/error.h"

/* Whether elements of an atom can lie in a tensor of this dtype: themselves, tf32 in f32,
** 4-bit integers in i8 or u8, bits in u8 or bool, codes of 4- and 6-bit floats in u8. */
bool mt_dtype_holds (mt_dtype d, mt_element e);
/* The dtypes that hold it, as words: "f16", "i8 or u8". */
const char *mt_dtypes_of (mt_element e);

/* v as an element: floats to nearest even (tf32: the low 13 bits of the f32 do not
** count), integers modulo 2^bits. */
double mt_round_number (mt_element e, double v);
/* One element of a tensor as what the atom's element makes of it: rounded to the element.
** In a tensor of integers a 4- or 6-bit float is its code, in the low bits. */
double mt_get_number (mt_dtype d, mt_element e, const void *p);
/* A result to a tensor as copies convert: rounded to nearest even, what is out of range
** to the end of it, or to infinity; to an integer v is integral. */
void mt_put_number (mt_dtype d, void *p, double v);

/* What the numbers of an operand are: its element; where that is only a container of
** bits (SM120's u8 and u4), the float that the name says. */
mt_element mt_mma_op_element (const mt_mma_op *op, int operand);
/* MT_OK if mt_mma_op_run knows the instruction; MT_EUNSUPPORTED (sparse, scaled, of
** complex numbers; of an atom of one's own: other types than floats and integers of up to
** 32 bits, accumulated in f16, bf16, f32, f64 or s32). */
mt_status mt_mma_op_check (const mt_mma_op *op, mt_err *err);
/* The instruction: c = a b + c for a[m + M k], b[n + N k], c[m + M n], numbers of their
** elements.
** (1) Integers are exact modulo 2^32, or saturate if the name says SATURATE;
** (2) floats: the products of an instruction are summed exactly with c, as far as a
** double does, and rounded once to the type of C; f32 (not tf32) and f64: fused, in order
** of k;
** (3) bits: popcount of and, of xor. */
void mt_mma_op_run (const mt_mma_op *op, const double *a, const double *b, double *c);
/* x + y as an accumulator of the instruction: rounded, wrapped or saturated as its c. */
double mt_mma_op_sum (const mt_mma_op *op, double x, double y);

/* The number of an atom in the order of mt_mma_atom_next, from 0, and back. An atom of
** one's own has MT_OWN_ATOM, which leads to none. */
#define MT_OWN_ATOM UINT32_MAX
mt_status mt_mma_atom_number (uint32_t *out, const char *name, mt_err *err);
bool mt_mma_atom_by_number (mt_mma_atom *out, uint32_t number);

#endif
