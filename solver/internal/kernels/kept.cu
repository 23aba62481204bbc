// kept: the operations of a method of one's own on what it keeps from one iteration to the next. Each leaves
// that as it is once the code of the state is above last. last is RUNNING; on a sampled device, whose state means nothing, it
// is above all codes, so that each launch takes its time. A test of the factor instead would not do: 0 times infinity is no number.
// Launch: as the kernels of the same names in spmv.cu, vector.cu and scalar.cu.
// build f32: -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts: -DPARTS -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts.f32: -DPARTS -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
#include "rows.cuh"
#include "state.cuh"

// kept_spmv: y = A x.
extern "C" __global__ void kept_spmv(MATRIX, const real *x, real *y, const int *state, int last,
                                     int lanes, int n)
{
    if (state[CODE] > last)
        return;
    EACH_ROW(i, lanes, n) {
        const real v = row(ptr, col, val, BAND, x, lanes, first, i, END(n));
        if (i < END(n) && threadIdx.x % lanes == 0)
            y[i] = v;
    }
}

// kept_axpy: y += a x.
extern "C" __global__ void kept_axpy(const real *a, const real *x, real *y, const int *state, int last, int n)
{
    if (state[CODE] > last)
        return;
    const real s = *a;
    STRIDE(i, n)
        y[i] += s * x[i];
}

// kept_xpay: y = x + a y.
extern "C" __global__ void kept_xpay(const real *x, const real *a, real *y, const int *state, int last, int n)
{
    if (state[CODE] > last)
        return;
    const real s = *a;
    STRIDE(i, n)
        y[i] = x[i] + s * y[i];
}

// kept_minus: z = x - a y.
extern "C" __global__ void kept_minus(const real *x, const real *a, const real *y, real *z, const int *state, int last, int n)
{
    if (state[CODE] > last)
        return;
    const real s = *a;
    STRIDE(i, n)
        z[i] = x[i] - s * y[i];
}

// kept_add: the second stage of a sum on its own.
extern "C" __global__ void kept_add(const real *partial, int blocks, real *sum, const int *state, int last)
{
    if (state[CODE] > last)
        return;
    const real v = total(partial, blocks);
    if (threadIdx.x == 0)
        *sum = v;
}

// kept_divide: q = x / y, 0 where that is a breakdown.
extern "C" __global__ void kept_divide(const real *x, const real *y, real *q, int *state, int last)
{
    if (threadIdx.x > 0 || state[CODE] > last)
        return;
    *q = quotient(*x, *y, *y == 0, state);
}
