// nb_3: l[i] = log of the sum of exp(r[i][c]) over the classes c. amax[i], the greatest of
// row i, is taken out before exp and put back after log, which keeps both in range.
// Shape: r n x classes, row-major.
// Launch: one dimension, any number of blocks and threads; a thread takes whole rows.
extern "C" __global__ void nb_3(const float *r, const float *amax, float *l, int n, int classes)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float sum = 0.0f;
        for (int c = 0; c < classes; c++)
            sum += expf(r[i * classes + c] - amax[i]);
        l[i] = logf(sum) + amax[i];
    }
}
