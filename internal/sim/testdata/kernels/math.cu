// The math library in single and double precision: what nvcc compiles a call of each function
// to, slow paths and all.
// target compute_75

#define UNARY(name)                                                                             \
    extern "C" __global__ void f32_##name(const float *x, float *out, int n)                    \
    {                                                                                           \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                    \
        if (i < n)                                                                              \
            out[i] = name##f(x[i]);                                                             \
    }                                                                                           \
    extern "C" __global__ void f64_##name(const double *x, double *out, int n)                  \
    {                                                                                           \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                    \
        if (i < n)                                                                              \
            out[i] = name(x[i]);                                                                \
    }

#define BINARY(name)                                                                            \
    extern "C" __global__ void f32_##name(const float *x, const float *y, float *out, int n)    \
    {                                                                                           \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                    \
        if (i < n)                                                                              \
            out[i] = name##f(x[i], y[i]);                                                       \
    }                                                                                           \
    extern "C" __global__ void f64_##name(const double *x, const double *y, double *out, int n) \
    {                                                                                           \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                    \
        if (i < n)                                                                              \
            out[i] = name(x[i], y[i]);                                                          \
    }

UNARY(sqrt)
UNARY(rsqrt)
UNARY(cbrt)
UNARY(exp)
UNARY(exp2)
UNARY(exp10)
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(erf)
UNARY(erfc)
UNARY(erfinv)
UNARY(lgamma)
UNARY(tgamma)
UNARY(j0)
UNARY(floor)
UNARY(ceil)
UNARY(trunc)
UNARY(round)
UNARY(rint)
BINARY(pow)
BINARY(atan2)
BINARY(hypot)
BINARY(fmod)
BINARY(remainder)
BINARY(fdim)
BINARY(copysign)
BINARY(nextafter)
BINARY(fmin)
BINARY(fmax)

// The intrinsics that trade accuracy for speed.
struct Fast {
    float sin, cos, exp, exp10, log, log2, log10, divide, power, saturate, rcp, sqrt, tan;
};

extern "C" __global__ void fast(const float *x, const float *y, Fast *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float a = x[i], b = y[i];
    out[i] = {__sinf(a), __cosf(a), __expf(a), __exp10f(a), __logf(b), __log2f(b), __log10f(b), __fdividef(a, b), __powf(b, a), __saturatef(a), __frcp_rn(b), __fsqrt_rn(b), __tanf(a)};
}

// Rounding by name: each operation toward zero, up and down.
struct Directed {
    float add[3], mul[3], div[3], sqrt[3], fma[3];
    double dadd[3], dmul[3], ddiv[3], dsqrt[3], dfma[3];
};

extern "C" __global__ void directed(const double *x, const double *y, const double *z, Directed *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double a = x[i], b = y[i], c = z[i];
    const float fa = (float)a, fb = (float)b, fc = (float)c;
    out[i] = {{__fadd_rz(fa, fb), __fadd_ru(fa, fb), __fadd_rd(fa, fb)},
              {__fmul_rz(fa, fb), __fmul_ru(fa, fb), __fmul_rd(fa, fb)},
              {__fdiv_rz(fa, fb), __fdiv_ru(fa, fb), __fdiv_rd(fa, fb)},
              {__fsqrt_rz(fb), __fsqrt_ru(fb), __fsqrt_rd(fb)},
              {__fmaf_rz(fa, fb, fc), __fmaf_ru(fa, fb, fc), __fmaf_rd(fa, fb, fc)},
              {__dadd_rz(a, b), __dadd_ru(a, b), __dadd_rd(a, b)},
              {__dmul_rz(a, b), __dmul_ru(a, b), __dmul_rd(a, b)},
              {__ddiv_rz(a, b), __ddiv_ru(a, b), __ddiv_rd(a, b)},
              {__dsqrt_rz(b), __dsqrt_ru(b), __dsqrt_rd(b)},
              {__fma_rz(a, b, c), __fma_ru(a, b, c), __fma_rd(a, b, c)}};
}
