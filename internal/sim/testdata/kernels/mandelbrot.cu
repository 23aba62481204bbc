// Escape times: each lane of a warp leaves the loop when it likes.
// build sm60: -arch=compute_60

template <typename T> __device__ int escape(T cx, T cy, int limit)
{
    T x = 0, y = 0;
    int n = 0;
    while (n < limit) {
        const T xx = x * x, yy = y * y;
        if (xx + yy > T(4))
            break;
        y = 2 * x * y + cy;
        x = xx - yy + cx;
        ++n;
    }
    return n;
}

extern "C" __global__ void mandelbrot(int *counts, int width, int height, double left, double top, double step, int limit)
{
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < width && py < height)
        counts[py * width + px] = escape<double>(__dadd_rn(left, __dmul_rn(px, step)), __dsub_rn(top, __dmul_rn(py, step)), limit);
}

// The lengths of Collatz sequences, with early ways out of two nested loops.
extern "C" __global__ void collatz(const unsigned long long *start, unsigned *steps, int n, unsigned limit)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long v = start[i];
    unsigned count = 0;
    while (v != 1) {
        while ((v & 1) == 0) {
            v >>= 1;
            if (++count == limit)
                goto out;
        }
        if (v == 1)
            break;
        if (v > (~0ull - 1) / 3) {
            steps[i] = ~0u;
            return;
        }
        v = 3 * v + 1;
        if (++count >= limit)
            goto out;
    }
out:
    steps[i] = count;
}
