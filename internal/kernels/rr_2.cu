// rr_2: r[i][c] += sum of z[i][q] * w[c][q] over the features q.
// Shapes: z n x features, w classes x features, r n x classes, all row-major.
// Launch: one dimension, any number of blocks and threads; a thread takes whole rows.
extern "C" __global__ void rr_2(const float *z, const float *w, float *r, int n, int features, int classes)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        for (int c = 0; c < classes; c++) {
            float sum = 0.0f;
            for (int q = 0; q < features; q++)
                sum += z[i * features + q] * w[c * features + q];
            r[i * classes + c] += sum;
        }
    }
}
