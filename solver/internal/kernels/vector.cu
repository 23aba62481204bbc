// vector: operations on whole vectors. Scalars come from device memory, where the kernels of
// scalar.cu leave them, so that an iteration needs nothing of the host. Where a kernel makes a
// sum, partial[b] is what block b contributes; norms[b], if it makes two, to the first.
// Launch: one dimension, whole warps.
// build f32: -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts: -DPARTS -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts.f32: -DPARTS -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
#include "solver.cuh"

// dot: the sum of x[i] * y[i].
extern "C" __global__ void dot(const real *x, const real *y, real *partial, int n)
{
    real sum = 0;
    STRIDE(i, n)
        sum += x[i] * y[i];
    leave(sum, partial);
}

// axpy: y += a x.
extern "C" __global__ void axpy(const real *a, const real *x, real *y, int n)
{
    const real s = *a;
    STRIDE(i, n)
        y[i] = moved(s, y[i], y[i] + s * x[i]);
}

// axpyd: y += a d x, elementwise.
extern "C" __global__ void axpyd(const real *a, const real *d, const real *x, real *y, int n)
{
    const real s = *a;
    STRIDE(i, n)
        y[i] = moved(s, y[i], y[i] + s * d[i] * x[i]);
}

// xpay: y = x + a y.
extern "C" __global__ void xpay(const real *x, const real *a, real *y, int n)
{
    const real s = *a;
    STRIDE(i, n)
        y[i] = x[i] + s * y[i];
}

// dxpay: y = d x + a y.
extern "C" __global__ void dxpay(const real *d, const real *x, const real *a, real *y, int n)
{
    const real s = *a;
    STRIDE(i, n)
        y[i] = d[i] * x[i] + s * y[i];
}

// axpby: y = a x + b y.
extern "C" __global__ void axpby(const real *a, const real *x, const real *b, real *y, int n)
{
    const real s = *a, t = *b;
    STRIDE(i, n)
        y[i] = s * x[i] + t * y[i];
}

// axpy2: z += a x + b y.
extern "C" __global__ void axpy2(const real *a, const real *x, const real *b, const real *y, real *z, int n)
{
    const real s = *a, t = *b;
    STRIDE(i, n) {
        const real next = z[i] + (s * x[i] + t * y[i]);
        z[i] = moved(s, moved(t, z[i], next), next);
    }
}

// minus: z = x - a y.
extern "C" __global__ void minus(const real *x, const real *a, const real *y, real *z, int n)
{
    const real s = *a;
    STRIDE(i, n)
        z[i] = x[i] - s * y[i];
}

// minus_norm: z -= a y, and the sum of z[i] * z[i].
extern "C" __global__ void minus_norm(const real *a, const real *y, real *z, real *partial, int n)
{
    const real s = *a;
    real sum = 0;
    STRIDE(i, n) {
        const real v = z[i] - s * y[i];
        z[i] = v;
        sum += v * v;
    }
    leave(sum, partial);
}

// minus_norms: z -= a y, the sum of z[i] * z[i], and that of d[i] * z[i] * z[i].
extern "C" __global__ void minus_norms(const real *a, const real *y, const real *d, real *z, real *norms, real *partial, int n)
{
    const real s = *a;
    real sum = 0, weighted = 0;
    STRIDE(i, n) {
        const real v = z[i] - s * y[i];
        z[i] = v;
        sum += v * v;
        weighted += d[i] * v * v;
    }
    leave(sum, weighted, norms, partial);
}

// minus_dots: z = x - a y, the sum of z[i] * z[i], and that of z[i] * w[i].
extern "C" __global__ void minus_dots(const real *x, const real *a, const real *y, const real *w, real *z, real *norms, real *partial, int n)
{
    const real s = *a;
    real norm = 0, sum = 0;
    STRIDE(i, n) {
        const real v = x[i] - s * y[i];
        z[i] = v;
        norm += v * v;
        sum += v * w[i];
    }
    leave(norm, sum, norms, partial);
}

// update: y = x + b (y - a z), the direction of BiCGSTAB.
extern "C" __global__ void update(const real *x, const real *b, const real *a, const real *z, real *y, int n)
{
    const real s = *a, t = *b;
    STRIDE(i, n)
        y[i] = x[i] + t * (y[i] - s * z[i]);
}
