// y = A x for a sparse matrix in compressed rows, and in the ELL format.

// A thread per row.
template <typename T>
__device__ void scalarRow(int rows, const int *__restrict__ start, const int *__restrict__ column, const T *__restrict__ value, const T *__restrict__ x, T *__restrict__ y)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    T sum = 0;
    for (int j = start[row]; j < start[row + 1]; ++j)
        sum += value[j] * x[column[j]];
    y[row] = sum;
}

// THREADS neighbouring lanes per row.
template <typename T, int THREADS>
__device__ void vectorRow(int rows, const int *__restrict__ start, const int *__restrict__ column, const T *__restrict__ value, const T *__restrict__ x, T *__restrict__ y)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & (THREADS - 1);
    const unsigned group = (~0u >> (32 - THREADS)) << (threadIdx.x & 31 & ~(THREADS - 1));
    for (int row = thread / THREADS; row < rows; row += gridDim.x * blockDim.x / THREADS) {
        T sum = 0;
        for (int j = start[row] + lane; j < start[row + 1]; j += THREADS)
            sum += value[j] * x[column[j]];
#pragma unroll
        for (int d = THREADS / 2; d > 0; d >>= 1)
            sum += __shfl_down_sync(group, sum, d, THREADS);
        if (lane == 0)
            y[row] = sum;
    }
}

#define SPMV(name, T, body)                                                                                            \
    extern "C" __global__ void name(int rows, const int *start, const int *column, const T *value, const T *x, T *y)  \
    {                                                                                                                  \
        body(rows, start, column, value, x, y);                                                                        \
    }
SPMV(csr_scalar_f32, float, scalarRow<float>)
SPMV(csr_scalar_f64, double, scalarRow<double>)
SPMV(csr_vector_f32, float, (vectorRow<float, 32>))
SPMV(csr_vector_f64, double, (vectorRow<double, 8>))

// Columns of equal length, padded with column -1, and stored transposed to coalesce.
extern "C" __global__ void ell(int rows, int width, const int *__restrict__ column, const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < width; ++k) {
        const int c = column[k * rows + row];
        if (c < 0)
            break;
        sum = fmaf(value[k * rows + row], x[c], sum);
    }
    y[row] = sum;
}
