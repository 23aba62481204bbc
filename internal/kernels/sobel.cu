// sobel: the magnitude of the image's gradient, result = sqrt(gx^2 + gy^2), where gx
// and gy are 3 x 3 correlations along rows and along columns; pixels outside the image
// count as 0, so the border of a bright image is an edge.
// Shapes: image and result rows x cols, row-major.
// Launch: two dimensions, x over rows and y over columns, any number of blocks and threads.
extern "C" __global__ void sobel(const float *image, float *result, int rows, int cols)
{
    __shared__ int across_rows[3][3];
    __shared__ int across_cols[3][3];
    // One thread fills both: the block may be as small as one thread.
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        across_rows[0][0] = -1; across_rows[0][1] = -2; across_rows[0][2] = -1;
        across_rows[1][0] = 0;  across_rows[1][1] = 0;  across_rows[1][2] = 0;
        across_rows[2][0] = 1;  across_rows[2][1] = 2;  across_rows[2][2] = 1;
        across_cols[0][0] = -1; across_cols[0][1] = 0;  across_cols[0][2] = 1;
        across_cols[1][0] = -2; across_cols[1][1] = 0;  across_cols[1][2] = 2;
        across_cols[2][0] = -1; across_cols[2][1] = 0;  across_cols[2][2] = 1;
    }
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += blockDim.x * gridDim.x) {
        for (int j = blockIdx.y * blockDim.y + threadIdx.y; j < cols; j += blockDim.y * gridDim.y) {
            float gx = 0.0f, gy = 0.0f;
            for (int di = -1; di <= 1; di++) {
                for (int dj = -1; dj <= 1; dj++) {
                    int y = i + di, x = j + dj;
                    if (y >= 0 && y < rows && x >= 0 && x < cols) {
                        float pixel = image[y * cols + x];
                        gx += across_rows[di + 1][dj + 1] * pixel;
                        gy += across_cols[di + 1][dj + 1] * pixel;
                    }
                }
            }
            result[i * cols + j] = sqrtf(gx * gx + gy * gy);
        }
    }
}
