extern "C" __global__ void square(const float* x, float* y, int n){ for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=blockDim.x*gridDim.x) y[i]=x[i]*x[i]; }
extern "C" __global__ void axpy(float a,const float* x, float* y, int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) y[i]=a*x[i]+y[i]; }
__inline__ __device__ float wr(float v){ for(int o=16;o>0;o/=2) v+=__shfl_down_sync(0xffffffff,v,o,32); return v;}
extern "C" __global__ void reduce(float* x, float* y, float* z, int N){ float sum=0; for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<N;i+=blockDim.x*gridDim.x) sum+=x[i]-y[i]; sum=wr(sum); if((threadIdx.x&31)==0) atomicAdd(z,sum);}
extern "C" __global__ void blur(const float* image, float* result, int rows, int cols, const float* kernel, int diameter){
 extern __shared__ float kl[];
 for(int i=threadIdx.x;i<diameter;i+=blockDim.x) for(int j=threadIdx.y;j<diameter;j+=blockDim.y) kl[i*diameter+j]=kernel[i*diameter+j];
 __syncthreads(); int radius=diameter/2;
 for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<rows;i+=blockDim.x*gridDim.x) for(int j=blockIdx.y*blockDim.y+threadIdx.y;j<cols;j+=blockDim.y*gridDim.y){ float sum=0; for(int x=-radius;x<=radius;++x) for(int y=-radius;y<=radius;++y){ int nx=x+i, ny=y+j; if(nx>=0&&ny>=0&&nx<rows&&ny<cols) sum+=kl[(x+radius)*diameter+(y+radius)]*image[nx*cols+ny]; } result[i*cols+j]=sum; }}
extern "C" __global__ void sobel(float* image, float* result, int rows,int cols){
 __shared__ int SX[3][3]; __shared__ int SY[3][3];
 if(threadIdx.x==0&&threadIdx.y==0){ SX[0][0]=-1;SX[0][1]=-2;SX[0][2]=-1;SX[1][0]=0;SX[1][1]=0;SX[1][2]=0;SX[2][0]=1;SX[2][1]=2;SX[2][2]=1; SY[0][0]=-1;SY[0][1]=0;SY[0][2]=1;SY[1][0]=-2;SY[1][1]=0;SY[1][2]=2;SY[2][0]=-1;SY[2][1]=0;SY[2][2]=1;}
 __syncthreads();
 for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<rows;i+=blockDim.x*gridDim.x) for(int j=blockIdx.y*blockDim.y+threadIdx.y;j<cols;j+=blockDim.y*gridDim.y){ float sx=0,sy=0; for(int x=-1;x<=1;++x) for(int y=-1;y<=1;++y){ int nx=x+i,ny=y+j; if(nx>=0&&ny>=0&&nx<rows&&ny<cols){ float v=image[nx*cols+ny]; sx+=v*SX[x+1][y+1]; sy+=v*SY[x+1][y+1]; }} result[i*cols+j]=sqrt(sx*sx+sy*sy);}}
__device__ float atomicMaxf(float* address,float val){ int* a=(int*)address; int old=*a, assumed; while(val>__int_as_float(old)){ assumed=old; old=atomicCAS(a,assumed,__float_as_int(val)); } return __int_as_float(old);}
extern "C" __global__ void maxk(float* in, float* out, int N){ float m=-1000; for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<N;i+=blockDim.x*gridDim.x) m=max(m,in[i]); for(int o=16;o>0;o/=2) m=max(m,__shfl_down_sync(0xffffffff,m,o,32)); if((threadIdx.x&31)==0) atomicMaxf(out,m);}
extern "C" __global__ void bs(const double* x, double* y, int n){ const double s=0.2; for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=blockDim.x*gridDim.x){ double d1=log(x[i])+s; y[i]=exp(d1)*normcdf(d1)+pow(x[i],1.5)+sin(x[i]*1e6);} }
extern "C" __global__ void expk(const float* x, float* y, int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) y[i]=expf(x[i])+logf(x[i]+1)+sinf(x[i])*tanhf(x[i])+powf(x[i],1.3f); }
