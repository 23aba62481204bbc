// bs: y[i] = the price of a European call on an asset at x[i], for 0 <= i < n, by
// Black and Scholes: strike k, time t to expiry in years, riskless rate r, volatility v,
// no dividends. All of it in double precision.
// Launch: one dimension, any number of blocks and threads; i strides by the grid.

// The normal distribution to 7.5e-8 (Abramowitz and Stegun 26.2.17). CUDA's normcdf
// would be exact; the polynomial is the benchmark's, and part of its cost.
static __device__ double cumulative(double d)
{
    const double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
    const double tail = 0.3989422804 * exp(-0.5 * d * d) *
        (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
    return d > 0.0 ? 1.0 - tail : tail;
}

extern "C" __global__ void bs(const double *x, double *y, int n, double r, double v, double t, double k)
{
    const double deviation = v * sqrt(t);
    const double drift = (r + 0.5 * v * v) * t;
    const double discounted = k * exp(-r * t);
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const double d = (log(x[i] / k) + drift) / deviation;
        y[i] = x[i] * cumulative(d) - discounted * cumulative(d - deviation);
    }
}
