/*
 * dp_gaussian_noise.h
 *	  Exact discrete Gaussian noise from a table: for millions of draws with one sigma.
 */
#ifndef DP_GAUSSIAN_NOISE_H
#define DP_GAUSSIAN_NOISE_H

#include "common/dp_random.h"

/* Cells of the table, the last of which is all that lies beyond the others. */
#define DP_NOISE_CELLS 256

/* The heights of all cells sum to this, so many times for each of them. */
#define DP_NOISE_SHARE_BITS 23
#define DP_NOISE_SHARE (1 << DP_NOISE_SHARE_BITS)

/*
 * A slot of the alias table and the cell of the same number.  A slot stands for its own cell
 * where a number uniform below DP_NOISE_SHARE is below "keep", else for "other".
 */
typedef struct DpNoiseCell
{
	uint32 keep;
	uint32 other;
	uint32 height; /* above the density all over the cell */
	uint32 quick;  /* in 2^-32: what of the height is below it all over the cell */
} DpNoiseCell;

/* A law made ready for drawing: of no use to anybody but dp_gaussian_noise.c and its test. */
typedef struct DpGaussianNoise
{
	int64 sigma;   /* 0: not ready */
	int cell_bits; /* a cell is 2^cell_bits integers wide; below 0: no table */
	uint32 peak;   /* the density at 0, in units of the heights */
	double unsure; /* closer calls are made exactly; a test sets it to infinity */
	DpNoiseCell cell[DP_NOISE_CELLS];
} DpGaussianNoise;

extern void dp_gaussian_noise_prepare(DpGaussianNoise *noise, int64 sigma);
extern int64 dp_gaussian_noise_draw(DpRandom *rng, const DpGaussianNoise *noise);

#endif /* DP_GAUSSIAN_NOISE_H */
