// gmres: the steps of GMRES beside its products. The basis is the columns of v, one after another, and
// every sum over n elements is for some columns at once: partial[k * blocks + b] is what block b
// adds to that of column k.
// Launch: one dimension and whole warps, unless a kernel says otherwise.
// build f32: -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
#include "state.cuh"

enum { LONGEST = 256 }; // of a restart

// project: the sums of v[k][i] * w[i], for a column k by each row of blocks.
extern "C" __global__ void project(const real *v, const real *w, real *partial, int n)
{
    const int k = blockIdx.y;
    real sum = 0;
    STRIDE(i, n)
        sum += v[(long long)k * n + i] * w[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        partial[k * gridDim.x + blockIdx.x] = sum;
}

// coefficients: c[k] is the sum that project left for column k, and h[k] is it, or with more, h[k] too. A
// block for each.
extern "C" __global__ void coefficients(const real *partial, int blocks, real *c, real *h, int more)
{
    const int k = blockIdx.x;
    const real sum = total(partial + k * blocks, blocks);
    if (threadIdx.x == 0) {
        c[k] = sum;
        h[k] = more ? h[k] + sum : sum;
    }
}

// orthogonalize: w -= c[k] v[k] for each of the columns, and the sum of w[i] * w[i].
extern "C" __global__ void orthogonalize(const real *v, const real *c, real *w, real *partial, int columns, int n)
{
    real norm = 0;
    STRIDE(i, n) {
        real sum = w[i];
        for (int k = 0; k < columns; k++)
            sum -= c[k] * v[(long long)k * n + i];
        w[i] = sum;
        norm += sum * sum;
    }
    leave(norm, partial);
}

// combine: x += y[k] v[k] for each of the columns.
extern "C" __global__ void combine(const real *v, const real *y, real *x, int columns, int n)
{
    STRIDE(i, n) {
        real sum = x[i];
        for (int k = 0; k < columns; k++)
            sum = moved(y[k], sum, sum + y[k] * v[(long long)k * n + i]);
        x[i] = sum;
    }
}

// scale: y = a x.
extern "C" __global__ void scale(const real *a, const real *x, real *y, int n)
{
    const real s = *a;
    STRIDE(i, n)
        y[i] = s * x[i];
}

// begin: the norm of the residual that a cycle starts from, as g[0], its inverse, and no columns used. It is to be
// less than before. One block.
extern "C" __global__ void begin(const real *norms, int blocks, real *before, real *g, real *inverse, int *used, int *state)
{
    const real norm = sqrt(total(norms, blocks));
    if (threadIdx.x > 0)
        return;
    *used = 0;
    if (state[CODE] == RUNNING && is_finite(norm) && norm >= *before * (1 - rounding()))
        state[CODE] = STAGNANT;
    *before = norm;
    g[0] = norm;
    *inverse = quotient(1, norm, false, state);
}

// rotate: column j of the Hessenberg matrix, whose last element is the norm of w, is turned upright by
// the rotations so far and one more, which also turns g: its last element is the norm of
// the residual. inverse is that of the norm of w, or 0 when there is to be no further column. One
// block.
extern "C" __global__ void rotate(const real *norms, int blocks, int j, real *h, real *cosine, real *sine, real *g, real *inverse, int *used,
                                  const real *limits, real *history, int *state)
{
    __shared__ real column[LONGEST], c[LONGEST], s[LONGEST];
    const real below = sqrt(total(norms, blocks));
    for (int k = threadIdx.x; k <= j; k += blockDim.x) {
        column[k] = h[k];
        if (k < j) {
            c[k] = cosine[k];
            s[k] = sine[k];
        }
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    *inverse = 0;
    if (state[CODE] != RUNNING)
        return;
    real size = column[0] * column[0] + below * below; // the square of the norm of A v[j]
    for (int k = 0; k < j; k++) {
        size += column[k + 1] * column[k + 1];
        const real up = column[k], down = column[k + 1];
        h[k] = c[k] * up + s[k] * down;
        column[k + 1] = c[k] * down - s[k] * up;
    }
    const real last = column[j], length = sqrt(last * last + below * below);
    if (length <= rounding() * sqrt(size)) { // A maps the space to one that is smaller
        state[CODE] = BREAKDOWN;
        return;
    }
    cosine[j] = last / length;
    sine[j] = below / length;
    h[j] = length;
    const real rest = -g[j] * below / length;
    g[j] *= last / length;
    g[j + 1] = rest;
    *used = j + 1;
    if (iterated(rest * rest, limits, history, state))
        *inverse = 1 / below;
}

// solve: y from the first columns of the upright matrix, of which there are used, and 0 for the
// others. The columns of h have stride elements. One block of one warp.
extern "C" __global__ void solve(const real *h, const real *g, const int *used, real *y, int stride, int columns)
{
    __shared__ real rest[LONGEST];
    const int n = *used;
    for (int k = threadIdx.x; k < columns; k += 32)
        rest[k] = k < n ? g[k] : (real)0;
    for (int k = n - 1; k >= 0; k--) {
        __syncwarp();
        const real v = rest[k] / h[k * stride + k];
        __syncwarp();
        if (threadIdx.x == 0)
            rest[k] = v;
        for (int i = threadIdx.x; i < k; i += 32)
            rest[i] -= v * h[k * stride + i];
    }
    __syncwarp();
    for (int k = threadIdx.x; k < columns; k += 32)
        y[k] = rest[k];
}
