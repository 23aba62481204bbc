// heat: one explicit step of the two-dimensional heat equation,
// next = u + alpha * (sum of the four neighbours - 4 u); the border is held fixed.
// Shapes: u and next rows x cols, row-major. Launch: two dimensions, x over columns
// and y over rows, one thread per cell.
extern "C" __global__ void heat(const float *u, float *next, float alpha, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols)
        return;
    int at = i * cols + j;
    float v = u[at];
    if (i > 0 && i < rows - 1 && j > 0 && j < cols - 1)
        v += alpha * (u[at - cols] + u[at + cols] + u[at - 1] + u[at + 1] - 4.0f * v);
    next[at] = v;
}
