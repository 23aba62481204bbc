// softmax_columns: out[c][s] = exp(x[c][s] - most) / sum of exp(x[d][s] - most) over the classes d, where most is the
// greatest x[d][s].
// Shapes: x and out classes x images, row-major.
// Launch: any number of blocks of 256 threads; a block takes whole columns.
extern "C" __global__ void __launch_bounds__(256) softmax_columns(float *out, const float *x, int classes, int images)
{
    constexpr int THREADS = 256;
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    for (int s = blockIdx.x; s < images; s += gridDim.x) {
        float most = -INFINITY;
        for (int c = t; c < classes; c += THREADS)
            most = fmaxf(most, x[c * images + s]);
        part[t] = most;
        for (int half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half)
                part[t] = fmaxf(part[t], part[t + half]);
        }
        __syncthreads();
        most = part[0];
        __syncthreads(); // part is written again

        float sum = 0.0f;
        for (int c = t; c < classes; c += THREADS)
            sum += expf(x[c * images + s] - most);
        part[t] = sum;
        for (int half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half)
                part[t] += part[t + half];
        }
        __syncthreads();
        sum = part[0];
        __syncthreads(); // of the next column
        for (int c = t; c < classes; c += THREADS)
            out[c * images + s] = expf(x[c * images + s] - most) / sum;
    }
}
