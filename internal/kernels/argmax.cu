// argmax: r[i] = the first class c where r1[i][c] + r2[i][c] is greatest.
// Shapes: r1 and r2 n x classes, row-major; at least one class.
// Launch: one dimension, any number of blocks and threads; a thread takes whole rows.
extern "C" __global__ void argmax(const float *r1, const float *r2, int *r, int n, int classes)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        int best = 0;
        float score = r1[i * classes] + r2[i * classes];
        for (int c = 1; c < classes; c++) {
            float next = r1[i * classes + c] + r2[i * classes + c];
            if (next > score) {
                score = next;
                best = c;
            }
        }
        r[i] = best;
    }
}
