// rr_3: r[i][c] += b[c].
// Shape: r n x classes, row-major.
// Launch: one dimension, any number of blocks and threads; a thread takes whole rows.
extern "C" __global__ void rr_3(float *r, const float *b, int n, int classes)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        for (int c = 0; c < classes; c++)
            r[i * classes + c] += b[c];
}
