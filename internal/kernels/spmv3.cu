// spmv3: res[i] = sum of val[j] * vec[idx[j]] over ptr[i] <= j < ptr[i+1], for 0 <= i < n:
// a sparse matrix in compressed rows times a vector.
// Launch: one dimension, whole warps (threads a multiple of 32, since the shuffles name
// all 32 lanes), and *counter = 0 beforehand. Four lanes share a row and a warp takes
// eight rows at a time from the counter, so a warp whose rows are long takes fewer. Any
// number of warps does: the first ones to arrive take all the rows if nobody else comes.
extern "C" __global__ void spmv3(int *counter, const int *ptr, const int *idx, const int *val, const float *vec, float *res, int n)
{
    const unsigned warp = 0xffffffffu;
    const int lane = threadIdx.x % 32;
    while (true) {
        int row = 0;
        if (lane == 0)
            row = atomicAdd(counter, 8);
        row = __shfl_sync(warp, row, 0);
        if (row >= n) // for the whole warp, so that every shuffle has its 32 lanes
            return;
        row += lane / 4;
        float sum = 0.0f;
        // The four lanes load the same two bounds, which is one request to memory.
        if (row < n)
            for (int j = ptr[row] + lane % 4; j < ptr[row + 1]; j += 4)
                sum += val[j] * vec[idx[j]];
        sum += __shfl_down_sync(warp, sum, 2, 4);
        sum += __shfl_down_sync(warp, sum, 1, 4);
        if (row < n && lane % 4 == 0)
            res[row] = sum;
    }
}
