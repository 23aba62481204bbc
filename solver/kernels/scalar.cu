// scalar: what becomes of the sums of an iteration. One block adds up what the blocks of the
// vector kernels left, and its first thread computes the scalars that the next ones take.
//
// state is what the host looks at now and then: what the solver has come to, how many iterations it
// did, how many it may do, and the square of the residual's norm as a float. Once it has come to something, the factors of all updates
// are zero, so that iterations past the end change nothing: how many of them are enqueued at a time
// makes no difference to the result. limits are the squares of the residual norms that
// end it, converged and diverged. history[k] is the square after iteration k + 1.
// Launch: one block of whole warps.
// build f32: -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
#include "solver.cuh"

enum { CODE, ITERATIONS, MOST, NORM };
enum { RUNNING, CONVERGED, EXHAUSTED, DIVERGED, NOT_FINITE, BREAKDOWN };

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
