/*
 * forecast.h
 *	  How many n-grams of the next lengths there may be, by weight, judging by what is
 *	  released.
 */
#ifndef DPNGRAM_FORECAST_H
#define DPNGRAM_FORECAST_H

#include "ngram/schedule.h"

#define FORECAST_MAX_LEVELS 32

/* Bins of weight, two to an octave; the last one holds what is beyond, too. */
#define FORECAST_BINS 40

typedef struct Forecast
{
	int levels;	  /* lengths k, k + 1, .. */
	double least; /* weight that the lowest bin stands for */
	double count[FORECAST_MAX_LEVELS][FORECAST_BINS];
} Forecast;

extern double forecast_weight(const Forecast *forecast, int bin);
extern void forecast_make(const ScheduleInput *in, int k, double least, Forecast *forecast);

#endif /* DPNGRAM_FORECAST_H */
