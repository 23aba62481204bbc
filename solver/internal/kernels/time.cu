// time: steps of equations of evolution, from one vector to another. Once state says that all are
// done, nothing is written. rows.cuh says what lanes are.
// Launch: one dimension, whole warps.
// build f32: -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts: -DPARTS -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts.f32: -DPARTS -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
#include "rows.cuh"
#include "state.cuh"

// heat: v = u - s A u, and the sum of v[i] * v[i].
extern "C" __global__ void heat(MATRIX, const real *u, const real *s, real *v, real *partial,
                                const int *state, int lanes, int n)
{
    if (state[CODE] != RUNNING)
        return;
    real sum = 0;
    EACH_ROW(i, lanes, n) {
        const real product = row(ptr, col, val, BAND, u, lanes, first, i, END(n));
        if (i < END(n) && threadIdx.x % lanes == 0) {
            const real next = u[i] - *s * product;
            v[i] = next;
            sum += next * next;
        }
    }
    leave(sum, partial);
}

// wave: v = 2 u - v - s A u, where v is what was before u and becomes what is after it, and the sum of
// v[i] * v[i].
extern "C" __global__ void wave(MATRIX, const real *u, const real *s, real *v, real *partial,
                                const int *state, int lanes, int n)
{
    if (state[CODE] != RUNNING)
        return;
    real sum = 0;
    EACH_ROW(i, lanes, n) {
        const real product = row(ptr, col, val, BAND, u, lanes, first, i, END(n));
        if (i < END(n) && threadIdx.x % lanes == 0) {
            const real next = 2 * u[i] - v[i] - *s * product;
            v[i] = next;
            sum += next * next;
        }
    }
    leave(sum, partial);
}
