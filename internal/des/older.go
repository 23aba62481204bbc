package des

// Older data-centre devices. What they have is from
//
//	[A] NVIDIA A100 Tensor Core GPU datasheet and architecture whitepaper (SXM4, 80 GB)
//	[V] NVIDIA Tesla V100 GPU datasheet and architecture whitepaper (SXM2, 16 GB)
//	[G] CUDA C++ Programming Guide, technical specifications of compute capability 8.0 and 7.0
//
// What their calls and gaps cost is taken from the H200 as it is: for these
// devices an estimate, not measured. There are no profiles of consumer devices:
// the interpreter weighs FP64 instructions at half the rate of FP32, which these
// three share, where a consumer device has 1/32 or less.
var (
	a100 = likeH200(Profile{
		Name: "NVIDIA A100-SXM4-80GB", ID: "a100", ComputeMajor: 8, ComputeMinor: 0,
		SMs:         108,       // [A]
		ClockMHz:    1410,      // MHz, boost [A]
		MemoryBytes: 80e9,      // bytes [A]
		MemoryGBps:  2039,      // [A]
		SMGBps:      64 * 1.41, // 64 bytes per cycle between an SM and L2 [A]
		L2Bytes:     40 << 20,  // bytes [A]
		LinkGBps:    26,        // PCIe 4 x16 is 31.5 raw [A]; 26 after protocol overhead: estimate, not measured
		MaxKernels:  128,       // [G]
		Limits: Limits{ // [G]
			ThreadsPerSM: 2048, ThreadsPerBlock: 1024, BlocksPerSM: 32,
			RegistersPerSM: 65536, RegistersPerWarp: 256,
			SharedPerSM: 164 << 10, SharedPerBlock: 163 << 10, SharedReserved: 1 << 10,
		},
	})
	v100 = likeH200(Profile{
		Name: "Tesla V100-SXM2-16GB", ID: "v100", ComputeMajor: 7, ComputeMinor: 0,
		SMs:         80,        // [V]
		ClockMHz:    1530,      // MHz, boost [V]
		MemoryBytes: 16e9,      // bytes [V]
		MemoryGBps:  900,       // [V]
		SMGBps:      64 * 1.53, // 64 bytes per cycle between an SM and L2: estimate, not measured
		L2Bytes:     6 << 20,   // bytes [V]
		LinkGBps:    12.5,      // PCIe 3 x16 is 15.75 raw [V]; 12.5 after protocol overhead: estimate, not measured
		MaxKernels:  128,       // [G]
		Limits: Limits{ // [G]
			ThreadsPerSM: 2048, ThreadsPerBlock: 1024, BlocksPerSM: 32,
			RegistersPerSM: 65536, RegistersPerWarp: 256,
			SharedPerSM: 96 << 10, SharedPerBlock: 96 << 10,
		},
	})
)

// likeH200 gives a device the H200's latencies, gaps and host costs.
func likeH200(p Profile) Profile {
	p.KernelRamp = h200.KernelRamp
	p.CopyInLatency, p.CopyOutLatency, p.CopyOnLatency = h200.CopyInLatency, h200.CopyOutLatency, h200.CopyOnLatency
	p.HostCallLatency = h200.HostCallLatency
	p.SubmitLatency, p.StreamGap, p.EventGap = h200.SubmitLatency, h200.StreamGap, h200.EventGap
	p.GraphEdgeGap, p.GraphRootGap = h200.GraphEdgeGap, h200.GraphRootGap
	p.Host = h200.Host
	return p
}
