// eigen: iterations of x to Ax, for what A leaves as it is. y is Ax, which the kernels of spmv.cu left with
// its sums. Once state says that the method is done, x stays.
// Launch: one dimension and whole warps; those that take blocks one block.
// build f32: -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts: -DPARTS -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts.f32: -DPARTS -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
#include "state.cuh"

// eigen_scale: value = x . y, Rayleigh's quotient of an x of norm 1, and inverse = 1 / |y|.
extern "C" __global__ void eigen_scale(const real *norms, const real *products, int blocks, real *value, real *inverse, int *state)
{
    const real norm = sqrt(total(norms, blocks));
    const real product = total(products, blocks);
    if (threadIdx.x > 0)
        return;
    *value = product;
    *inverse = quotient(1, norm, norm == 0, state);
}

// eigen_next: x = y / |y|, and the sum of (y[i] - value x[i])^2 / |y|^2 for the x before.
extern "C" __global__ void eigen_next(const real *value, const real *inverse, const real *y, real *x, real *partial, const int *state, int n)
{
    if (state[CODE] != RUNNING)
        return;
    const real v = *value, s = *inverse;
    real sum = 0;
    STRIDE(i, n) {
        const real d = s * (y[i] - v * x[i]);
        sum += d * d;
        x[i] = s * y[i];
    }
    leave(sum, partial);
}

// rank_share: what each page has from elsewhere than links, so that ranks add up to 1.
extern "C" __global__ void rank_share(const real *partial, int blocks, const real *damping, real *share)
{
    const real sum = total(partial, blocks);
    if (threadIdx.x == 0)
        *share = 1 - *damping * sum;
}

// rank_next: x = damping y + share v, and the sum of the squares of what changed.
extern "C" __global__ void rank_next(const real *damping, const real *share, const real *v, const real *y, real *x, real *partial,
                                     const int *state, int n)
{
    if (state[CODE] != RUNNING)
        return;
    const real d = *damping, s = *share;
    real sum = 0;
    STRIDE(i, n) {
        const real next = d * y[i] + s * v[i], change = next - x[i];
        sum += change * change;
        x[i] = next;
    }
    leave(sum, partial);
}
