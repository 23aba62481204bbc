// nb_4: r[i][c] = exp(r[i][c] - l[i]).
// Shape: r n x classes, row-major.
// Launch: one dimension, any number of blocks and threads; a thread takes whole rows.
extern "C" __global__ void nb_4(float *r, const float *l, int n, int classes)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        for (int c = 0; c < classes; c++)
            r[i * classes + c] = expf(r[i * classes + c] - l[i]);
}
