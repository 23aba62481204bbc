// depthwise: out = each channel of x convolved with a filter of its own, 3 x 3 pixels, plus a bias, cut to a range.
// out[l][s][i][j] = bias[l] + sum of weights[l][di][dj] * x[l][s][i * stride - 1 + di][j * stride - 1 + dj]
// over 0 <= di, dj < 3 inside of the image, cut to at least low and at most high.
// Shapes: x channels x images x rows x cols, weights channels x 3 x 3, bias channels,
// out channels x images x high x wide with high = (rows - 1) / stride + 1, and wide likewise of cols, row-major.
// Launch: two dimensions, x over the pixels of a channel of out and y over channels, any number of blocks and threads.
extern "C" __global__ void depthwise(float *out, const float *x, const float *weights, const float *bias, int channels,
                                     int images, int rows, int cols, int stride, float low, float high)
{
    int tall = (rows - 1) / stride + 1, wide = (cols - 1) / stride + 1;
    int places = images * tall * wide;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < places; p += blockDim.x * gridDim.x) {
        int s = p / (tall * wide), i = p / wide % tall, j = p % wide;
        int top = i * stride - 1, left = j * stride - 1;
        for (int l = blockIdx.y; l < channels; l += gridDim.y) {
            const float *image = x + (l * images + s) * rows * cols;
            float v = bias[l];
#pragma unroll
            for (int di = 0; di < 3; di++)
#pragma unroll
                for (int dj = 0; dj < 3; dj++) {
                    int row = top + di, col = left + dj;
                    if (row >= 0 && row < rows && col >= 0 && col < cols)
                        v += weights[(l * 3 + di) * 3 + dj] * image[row * cols + col];
                }
            out[l * places + p] = v < low ? low : v > high ? high : v; // a NaN stays, fmaxf would drop it
        }
    }
}
