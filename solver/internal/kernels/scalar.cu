// scalar: what becomes of the sums of an iteration. One block adds up what the blocks of the
// vector kernels left, and its first thread computes the scalars that the next ones take.
// Launch: one block of whole warps.
// build f32: -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
#include "state.cuh"

// cg_alpha: alpha = rho / (p . Ap), which is positive while A is positive definite.
extern "C" __global__ void cg_alpha(const real *partial, int blocks, const real *rho, real *alpha, int *state)
{
    const real curvature = total(partial, blocks);
    if (threadIdx.x == 0)
        *alpha = quotient(*rho, curvature, curvature <= 0, state);
}

// cg_beta: beta = (r . z) / rho, and rho = r . z.
extern "C" __global__ void cg_beta(const real *norms, const real *products, int blocks, real *rho, real *beta,
                                   const real *limits, real *history, int *state)
{
    const real norm = total(norms, blocks);
    const real product = total(products, blocks);
    if (threadIdx.x > 0)
        return;
    *beta = 0;
    if (!iterated(norm, limits, history, state))
        return;
    *beta = quotient(product, *rho, *rho == 0, state);
    *rho = product;
}

// bicgstab_alpha: alpha = rho / (w . v).
extern "C" __global__ void bicgstab_alpha(const real *partial, int blocks, const real *rho, real *alpha, int *state)
{
    const real product = total(partial, blocks);
    if (threadIdx.x == 0)
        *alpha = quotient(*rho, product, product == 0, state);
}

// bicgstab_omega: omega = (s . t) / (t . t), or 0 when t is: then s is the residual, or A is
// singular, which the next iteration finds.
extern "C" __global__ void bicgstab_omega(const real *norms, const real *products, int blocks, real *omega, int *state)
{
    const real norm = total(norms, blocks);
    const real product = total(products, blocks);
    if (threadIdx.x == 0)
        *omega = norm == 0 ? (real)0 : quotient(product, norm, false, state);
}

// bicgstab_beta: beta = (w . r) / rho * alpha / omega, and rho = w . r.
extern "C" __global__ void bicgstab_beta(const real *norms, const real *products, int blocks, real *rho, const real *alpha,
                                         const real *omega, real *beta, const real *limits, real *history, int *state)
{
    const real norm = total(norms, blocks);
    const real product = total(products, blocks);
    if (threadIdx.x > 0)
        return;
    *beta = 0;
    if (!iterated(norm, limits, history, state))
        return;
    *beta = quotient(product / *rho * *alpha, *omega, *omega == 0 || product == 0, state);
    *rho = product;
}

// chebyshev: the coefficients of d = b r + a d, from tau[0] = 1 / (2 theta - delta^2 tau[-1]): theta is the
// middle of the spectrum and delta half its width.
extern "C" __global__ void chebyshev(const real *norms, int blocks, const real *theta, const real *delta, real *tau, real *a, real *b,
                                     real *running, const real *limits, real *history, int *state)
{
    const real norm = total(norms, blocks);
    if (threadIdx.x > 0)
        return;
    *running = iterated(norm, limits, history, state);
    const real square = *delta * *delta, next = 1 / (2 * *theta - square * *tau);
    *a = square * *tau * next;
    *b = 2 * next;
    *tau = next;
}

// check: the end of an iteration that left a residual of that norm, squared. running is 1, and 0
// from the last on.
extern "C" __global__ void check(const real *norms, int blocks, real *running, const real *limits, real *history, int *state)
{
    const real norm = total(norms, blocks);
    if (threadIdx.x == 0)
        *running = iterated(norm, limits, history, state);
}

// add: the second stage of a sum on its own.
extern "C" __global__ void add(const real *partial, int blocks, real *sum)
{
    const real v = total(partial, blocks);
    if (threadIdx.x == 0)
        *sum = v;
}

// divide: q = x / y, and 0 from the last iteration on.
extern "C" __global__ void divide(const real *x, const real *y, real *q, int *state)
{
    if (threadIdx.x == 0)
        *q = quotient(*x, *y, *y == 0, state);
}

// all_ended: whether each of several systems has come to something. Launch: one warp.
extern "C" __global__ void all_ended(const int *states, int systems, int *ended)
{
    bool busy = false;
    for (int i = threadIdx.x; i < systems; i += 32)
        busy |= states[(NORM + 1) * i + CODE] == RUNNING;
    busy = __any_sync(~0u, busy);
    if (threadIdx.x == 0)
        *ended = !busy;
}
