package profiles

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// Older data-centre devices. What they have is from
//
//	[A] NVIDIA A100 Tensor Core GPU datasheet and architecture whitepaper (SXM4, 80 GB)
//	[V] NVIDIA Tesla V100 GPU datasheet and architecture whitepaper (SXM2, 16 GB)
//	[J] Z. Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018
//	[L] W. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture", 2024:
//	    latencies of the A100
//	[U] A. Parravicini et al., "DAG-based Scheduling with Resource Sharing for Multi-task Applications
//	    in a Polyglot GPU Runtime", 2020, results in its repository: on a P100, VEC moves its 0.96 GB in
//	    0.2 s where kernels fault it in, and in 87 ms attached to streams, as fast as PCIe 3 copies
//	[R] paranumal.com, "Rough-n-Ready Roofline: NVIDIA V100 edition", 2018
//	[G] CUDA C++ Programming Guide, technical specifications of compute capability 8.0 and 7.0
//
// The costs of calls and gaps are those of the H200, unchanged. For these
// devices they are estimates and not measured.
var (
	a100 = likeH200(model.Profile{
		Name: "NVIDIA A100-SXM4-80GB", ID: "a100", ComputeMajor: 8, ComputeMinor: 0,
		SMs:         108,       // [A]
		ClockMHz:    1410,      // MHz, boost [A]
		MemoryBytes: 80e9,      // bytes [A]
		MemoryGBps:  2039,      // [A]
		MemoryShare: 0.90,      // estimate, not measured
		SMGBps:      64 * 1.41, // 64 bytes per cycle between an SM and L2 [A]
		L2Bytes:     40 << 20,  // bytes [A]
		// 5120 bytes per cycle [A], times the 69 % that a V100 reaches of its 2048 [J]: estimate, not
		// measured.
		L2GBps:     0.69 * 5120 * 1.41,
		L2Slices:   80,        // 5120 bytes per cycle at 64 each [A]
		L1Bytes:    192 << 10, // [A]
		LinkGBps:   26,        // PCIe 4 x16 is 31.5 raw [A]; 26 after protocol overhead: estimate, not measured
		DuplexGBps: 47,        // estimate, not measured
		FaultGBps:  11,        // 0.42 of the link, as on a P100 [U]: estimate, not measured
		MaxKernels: 128,       // [G]
		Lanes: unit.Work{ // [G], table of arithmetic throughput
			unit.FP32: 64, unit.FP64: 32,
			unit.FP16:    128, // pairs, so 256 results
			unit.Integer: 64, unit.Multiply: 64,
			unit.Special:   16,
			unit.Convert:   16, // estimate, not measured
			unit.Convert64: 16, unit.Bits: 16,
			unit.Memory:  32, // load and store units [A]
			unit.Shuffle: 32, unit.Vote: 64,
			unit.Branch:  32, // estimate, not measured
			unit.Tensor:  64, // a warp's m16n8k16 of halves takes 4 cycles of 4 units [A]; other shapes are an estimate, not measured
			unit.Texture: 4,  // four texture units of a bilinear texel each [A]
		},
		L1Cycles: 38, L2Cycles: 262, DRAMCycles: 466, // [L]
		Limits: model.Limits{ // [G]
			ThreadsPerSM: 2048, ThreadsPerBlock: 1024, BlocksPerSM: 32,
			RegistersPerSM: 65536, RegistersPerWarp: 256, Schedulers: 4,
			SharedPerSM: 164 << 10, SharedPerBlock: 163 << 10, SharedReserved: 1 << 10,
		},
	})
	v100 = likeH200(model.Profile{
		Name: "Tesla V100-SXM2-16GB", ID: "v100", ComputeMajor: 7, ComputeMinor: 0,
		SMs:         80,        // [V]
		ClockMHz:    1530,      // MHz, boost [V]
		MemoryBytes: 16e9,      // bytes [V]
		MemoryGBps:  900,       // [V]
		MemoryShare: 0.88,      // a copy reaches 790 of 900 GB/s [R]
		SMGBps:      64 * 1.53, // 64 bytes per cycle between an SM and L2: estimate, not measured
		L2Bytes:     6 << 20,   // bytes [V]
		L2GBps:      2155,      // [J]
		L2Slices:    32,        // 2048 bytes per cycle at 64 each: estimate, not measured
		L1Bytes:     128 << 10, // [V]
		LinkGBps:    12.5,      // PCIe 3 x16 is 15.75 raw [V]; 12.5 after protocol overhead: estimate, not measured
		DuplexGBps:  22,        // estimate, not measured
		FaultGBps:   5.3,       // 0.42 of the link, as on a P100 [U]: estimate, not measured
		MaxKernels:  128,       // [G]
		Lanes: unit.Work{ // [G], table of arithmetic throughput
			unit.FP32: 64, unit.FP64: 32,
			unit.FP16:    64, // pairs, so 128 results
			unit.Integer: 64, unit.Multiply: 64,
			unit.Special:   16,
			unit.Convert:   16, // estimate, not measured
			unit.Convert64: 16, unit.Bits: 16,
			unit.Memory:  32, // load and store units [V]
			unit.Shuffle: 32, unit.Vote: 64,
			unit.Branch:  32, // estimate, not measured
			unit.Tensor:  32, // a warp's m16n16k16 of halves takes 16 cycles of 8 units [V]; other shapes are an estimate, not measured
			unit.Texture: 4,  // four texture units of a bilinear texel each [V]
		},
		L1Cycles: 28, L2Cycles: 193, // [J]
		DRAMCycles: 400, // estimate, not measured: [J] has 193 for L2, and DRAM is some 200 behind that
		Limits: model.Limits{ // [G]
			ThreadsPerSM: 2048, ThreadsPerBlock: 1024, BlocksPerSM: 32,
			RegistersPerSM: 65536, RegistersPerWarp: 256, Schedulers: 4,
			SharedPerSM: 96 << 10, SharedPerBlock: 96 << 10,
		},
	})
)

// likeH200 returns p with the latencies, gaps and host costs of the H200.
func likeH200(p model.Profile) model.Profile {
	p.KernelRamp, p.FlushLatency = h200.KernelRamp, h200.FlushLatency
	p.BlockLatency, p.WarpLatency = h200.BlockLatency, h200.WarpLatency
	p.CopyInLatency, p.CopyOutLatency, p.CopyOnLatency = h200.CopyInLatency, h200.CopyOutLatency, h200.CopyOnLatency
	p.HostCallLatency, p.ConditionLatency, p.FaultLatency = h200.HostCallLatency, h200.ConditionLatency, h200.FaultLatency
	p.SubmitLatency, p.StreamGap, p.EventGap = h200.SubmitLatency, h200.StreamGap, h200.EventGap
	p.GraphEdgeGap, p.GraphRootGap, p.GraphBodyGap = h200.GraphEdgeGap, h200.GraphRootGap, h200.GraphBodyGap
	p.ContextSwitch, p.ContextSlice = h200.ContextSwitch, h200.ContextSlice
	p.BlockRate = h200.BlockRate
	p.Host = h200.Host
	return p
}
