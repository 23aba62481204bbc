package profiles

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// h200 is the NVIDIA H200 SXM. Sources:
//
//	[D] NVIDIA H200 Tensor Core GPU datasheet
//	[H] NVIDIA H100 Tensor Core GPU architecture whitepaper (the same GH100 die)
//	[G] CUDA C++ Programming Guide, technical specifications of compute capability 9.0
//	[C] NVIDIA technical blog, "Constant time launch for straight-line CUDA graphs and other
//	    performance enhancements", figures of CUDA 12.6
//	[S] NVIDIA technical blog, "Getting started with CUDA graphs", figures of a V100, CUDA 10.1
//	[L] W. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture", 2024:
//	    latencies of the H100
//	[J] Z. Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018
//	[A] NVIDIA A100 Tensor Core GPU architecture whitepaper
//	[T] published null-kernel launch latency of H100 and H200 under recent drivers: 4.5 to 4.7 us
//	    from the call to the kernel's start
//	[U] A. Parravicini et al., "DAG-based Scheduling with Resource Sharing for Multi-task Applications
//	    in a Polyglot GPU Runtime", 2020, results in its repository: on a P100, VEC moves its 0.96 GB in
//	    0.2 s where kernels fault it in, and in 87 ms attached to streams, as fast as PCIe 3 copies
//	[E] D. Ernst, gpu-benches, github.com/te42kyfo/gpu-benches, results at commit 1c36d50: small kernels and
//	    streams of an H200, two A100, an A40 and an L40
//	[Z] T. Zheng et al., "Towards High Performance Paged Memory for GPUs", 2016: 20 to 50 us for a fault
//
// A figure without one of these is an estimate, not measured.
var h200 = model.Profile{
	Name:         "NVIDIA H200",
	ID:           "h200",
	ComputeMajor: 9, // [G]
	ComputeMinor: 0, // [G]

	SMs:         132,       // [H]
	ClockMHz:    1980,      // MHz, boost [H]
	MemoryBytes: 141e9,     // bytes [D]
	MemoryGBps:  4800,      // 4.8 TB/s, peak [D]
	MemoryShare: 0.78,      // kernels that scale 135 and 256 MB reach 0.68 and 0.70, with a part of it in L2 [E]
	SMGBps:      64 * 1.98, // 64 bytes per cycle between an SM and L2: estimate, not measured
	L2Bytes:     60 << 20,  // bytes, as the driver reports [E]
	// 0.57 of the 5120 bytes per cycle that [A] states: kernels of 33 MB whose data stays in L2 take 5.8 us [E].
	L2GBps:     0.57 * 5120 * 1.98,
	L2Slices:   80,        // 5120 bytes per cycle at 64 each: estimate, not measured
	L1Bytes:    256 << 10, // [H]
	LinkGBps:   55,        // PCIe 5 x16 is 63 raw [D]; 55 after protocol overhead: estimate, not measured
	DuplexGBps: 100,       // reads and writes slow each other down a little: estimate, not measured
	FaultGBps:  23,        // 0.42 of the link, as on a P100 [U]: estimate, not measured
	MaxKernels: 128,       // resident grids per device [G]
	BlockRate:  1,         // one block a cycle: estimate, not measured
	Limits: model.Limits{ // all [G]
		ThreadsPerSM:     2048,
		ThreadsPerBlock:  1024,
		BlocksPerSM:      32,
		RegistersPerSM:   65536,
		RegistersPerWarp: 256, // allocation unit: 8 registers of 32 threads
		Schedulers:       4,
		SharedPerSM:      228 << 10,
		SharedPerBlock:   227 << 10,
		SharedReserved:   1 << 10,
	},

	Lanes: unit.Work{ // [G], table of arithmetic throughput
		unit.FP32: 128, unit.FP64: 64,
		unit.FP16:    128, // pairs, so 256 results
		unit.Integer: 64, unit.Multiply: 64,
		unit.Special:   16,
		unit.Convert:   64, // estimate, not measured
		unit.Convert64: 16, unit.Bits: 16,
		unit.Memory:  32, // load and store units [H]
		unit.Shuffle: 32, unit.Vote: 64,
		unit.Branch:  32,  // estimate, not measured
		unit.Tensor:  128, // a warp's m16n8k16 of halves takes 2 cycles of 4 units [H]; other shapes are an estimate, not measured
		unit.Texture: 4,   // four texture units of a bilinear texel each [H]
	},
	L1Cycles:   41,  // [L]
	L2Cycles:   262, // [L], near the multiprocessor's own half
	DRAMCycles: 479, // [L]

	// [C]: the device side of a straight-line graph of 1025 empty kernels takes 567 us and one of 100
	// takes 53 us, so an empty kernel and its edge cost 0.53 to 0.55 us. How the ramp, the block and the edge
	// share it is an estimate, not measured.
	KernelRamp:   100 * model.Nanosecond,
	GraphEdgeGap: 200 * model.Nanosecond,
	// [E]: with two blocks of one warp on each multiprocessor, a block that loads one element takes its slot for
	// 0.45 to 0.68 us on an A40, an L40 and two A100, of which instructions and the load are 0.2 to 0.36. With 16 warps
	// it takes 0.17 us more.
	BlockLatency: 240 * model.Nanosecond,
	WarpLatency:  10 * model.Nanosecond,
	// [E]: a kernel that scales 4096 elements takes 1.29 us in a graph of an H200, 0.6 us more than its blocks,
	// the ramp and the edge.
	FlushLatency: 550 * model.Nanosecond,
	// [E]: the same kernels take 1.18 to 1.46 us more each in a stream than in a graph.
	StreamGap: 1380 * model.Nanosecond,

	EventGap:     1840 * model.Nanosecond, // a semaphore written and polled through L2, 0.46 us more than the order of a stream: estimate, not measured
	GraphRootGap: 1640 * model.Nanosecond, // 0.26 us more than the order of a stream: estimate, not measured
	GraphBodyGap: 1000 * model.Nanosecond, // estimate, not measured
	// [T] less the host's share of the call.
	SubmitLatency: 2400 * model.Nanosecond,

	CopyInLatency:   1300 * model.Nanosecond, // DMA set-up and one PCIe round trip: estimate, not measured
	CopyOutLatency:  1300 * model.Nanosecond, // estimate, not measured
	CopyOnLatency:   900 * model.Nanosecond,  // estimate, not measured
	HostCallLatency: 6000 * model.Nanosecond, // wake a thread and signal back: estimate, not measured
	// A word read and a launch decided on by the device, so a loop costs 2 us an iteration beside
	// its body: estimate, not measured.
	ConditionLatency: 1000 * model.Nanosecond,
	FaultLatency:     20 * model.Microsecond, // the least of [Z]; several faults are served together: estimate, not measured

	// Tegra takes 50 to 750 us to switch. DRIVE OS recommends slices of 1.5 to 2 ms.
	ContextSwitch: 50 * model.Microsecond,   // estimate, not measured
	ContextSlice:  2000 * model.Microsecond, // estimate, not measured

	Host: model.HostCosts{
		Launch:         2200 * model.Nanosecond,  // [S] has 2.2 us of CPU per launch
		Memcpy:         2000 * model.Nanosecond,  // estimate, not measured
		Memset:         2000 * model.Nanosecond,  // estimate, not measured
		HostCall:       2500 * model.Nanosecond,  // estimate, not measured
		EventRecord:    700 * model.Nanosecond,   // estimate, not measured
		EventWait:      500 * model.Nanosecond,   // estimate, not measured
		GraphLaunch:    2500 * model.Nanosecond,  // [C], repeat launch
		GraphNode:      1 * model.Nanosecond,     // [C], repeat launch of a straight line
		GraphBranch:    200 * model.Nanosecond,   // [C] has 200 ns per node before 12.6; that graphs which branch still pay it is an estimate, not measured
		Synchronize:    2000 * model.Nanosecond,  // estimate, not measured
		Query:          500 * model.Nanosecond,   // estimate, not measured
		Alloc:          50 * model.Microsecond,   // estimate, not measured
		Create:         1 * model.Microsecond,    // estimate, not measured
		Instantiate:    2 * model.Microsecond,    // [C]: 10 nodes 16 us, 1025 nodes 1526 us, less the rate below
		InstantiateOne: 1487 * model.Nanosecond,  // [C]: (1526 - 16) us / 1015 nodes
		UpdateNode:     1 * model.Microsecond,    // estimate, not measured
		LoadModule:     2000 * model.Microsecond, // compiling PTX, cached: estimate, not measured
	},
}
