// nb_2: amax[i] = the greatest of r[i][0 .. classes - 1].
// Shape: r n x classes, row-major; at least one class.
// Launch: one dimension, any number of blocks and threads; a thread takes whole rows.
extern "C" __global__ void nb_2(const float *r, float *amax, int n, int classes)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float best = r[i * classes];
        for (int c = 1; c < classes; c++)
            best = fmaxf(best, r[i * classes + c]);
        amax[i] = best;
    }
}
