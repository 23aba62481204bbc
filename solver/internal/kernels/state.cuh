// What the kernels that end iterations share.
//
// state is what the host looks at now and then: what the solver has come to, how many iterations it
// did, how many it may do, and the square of the residual's norm as a float. Once it has come to
// something, the factors of all updates are zero, so that iterations past the end change nothing: how
// many of them are enqueued at a time makes no difference to the result. limits are the squares of
// the residual norms that end it, converged and diverged. history[k] is the square after
// iteration k + 1.
#pragma once

#include "solver.cuh"

enum { CODE, ITERATIONS, MOST, NORM };
enum { RUNNING, CONVERGED, EXHAUSTED, DIVERGED, NOT_FINITE, BREAKDOWN, STAGNANT };

// What is smaller beside what it was computed from is rounding: some units in the last place.
static __device__ real rounding() { return sizeof(real) == sizeof(double) ? (real)1e-14 : (real)5e-6f; }

static __device__ bool is_finite(real v) { return v - v == 0; }

// quotient is p / q, or 0 when that is no number or q says that the method has broken down.
static __device__ real quotient(real p, real q, bool broken, int *state)
{
    if (state[CODE] != RUNNING)
        return 0;
    const real v = p / q;
    if (is_finite(q) && broken)
        state[CODE] = BREAKDOWN;
    else if (!is_finite(q) || !is_finite(v))
        state[CODE] = NOT_FINITE;
    else
        return v;
    return 0;
}

// iterated ends an iteration that left a residual of that norm, squared, and says whether there
// is to be another.
static __device__ bool iterated(real norm, const real *limits, real *history, int *state)
{
    if (state[CODE] != RUNNING)
        return false;
    const int k = state[ITERATIONS];
    history[k] = norm;
    state[ITERATIONS] = k + 1;
    state[NORM] = __float_as_int((float)norm);
    if (!is_finite(norm))
        state[CODE] = NOT_FINITE;
    else if (norm <= limits[0])
        state[CODE] = CONVERGED;
    else if (norm > limits[1])
        state[CODE] = DIVERGED;
    else if (k + 1 == state[MOST])
        state[CODE] = EXHAUSTED;
    return state[CODE] == RUNNING;
}
