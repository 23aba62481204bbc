// softmax: m[i][c] = exp(m[i][c]) / sum of exp(m[i][d]) over the classes d. Nothing is taken out
// before exp, so the values have to stay below 88, where it overflows.
// Shape: m n x classes, row-major.
// Launch: one dimension, any number of blocks and threads; a thread takes whole rows.
extern "C" __global__ void softmax(float *m, int n, int classes)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float sum = 0.0f;
        for (int c = 0; c < classes; c++)
            sum += expf(m[i * classes + c]);
        for (int c = 0; c < classes; c++)
            m[i * classes + c] = expf(m[i * classes + c]) / sum;
    }
}
