package profiles

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// The devices on which the GrCUDA suite was evaluated (IPDPS 2021). What they have is from
//
//	[U] A. Parravicini et al., "DAG-based Scheduling with Resource Sharing for Multi-task Applications
//	    in a Polyglot GPU Runtime", 2020, results in its repository: on a P100, VEC moves its 0.96 GB in
//	    0.2 s where kernels fault it in, and in 87 ms attached to streams, as fast as PCIe 3 copies
//	[P] NVIDIA Tesla P100 architecture whitepaper, and the product brief of the PCIe card with 12 GB
//	[T] NVIDIA Turing GPU architecture whitepaper, and the product page of the GeForce GTX 1660 Super
//	    (TU116: no tensor cores, halves in units of their own)
//	[M] NVIDIA GeForce GTX 960 and GTX 980 whitepapers (GM206 is half a GM204), and the product page
//	    of the GTX 960
//	[J] Z. Jia et al., "Dissecting the NVIDIA Turing T4 GPU via Microbenchmarking", 2019, which
//	    measures the P100 (16 GB), the T4 and the M60 (GM204) as well
//	[B] Microway, "NVIDIA Tesla P100 PCI-E 16GB GPU Accelerator (Pascal GP100) Up Close", 2016:
//	    bandwidthTest
//	[G] CUDA C++ Programming Guide, technical specifications of compute capability 6.0, 7.5 and 5.2
//
// The costs of calls and gaps are those of the H200, unchanged. For these devices, with the
// hosts and drivers of their time, they are estimates and not measured.
var (
	p100 = likeH200(model.Profile{
		Name: "Tesla P100-PCIE-12GB", ID: "p100", ComputeMajor: 6, ComputeMinor: 0,
		SMs:         56,       // [P]
		ClockMHz:    1303,     // MHz, boost [P]
		MemoryBytes: 12 << 30, // bytes [P]
		MemoryGBps:  549,      // three stacks of HBM2 [P]
		// 510 of 732 GB/s of the card with 16 GB [J]; stream kernels are known to reach a little more:
		// estimate, not measured.
		MemoryShare: 0.75,
		SMGBps:      64 * 1.303,  // 64 bytes per cycle between an SM and L2: estimate, not measured
		L2Bytes:     3 << 20,     // bytes; 4 MB of the card with 16 GB [P], less a quarter for its fourth stack: estimate, not measured
		L2GBps:      0.75 * 1624, // 1624 with 16 GB [J], less a quarter: estimate, not measured
		L2Slices:    24,          // eight for each stack: estimate, not measured
		L1Bytes:     24 << 10,    // bytes of L1, which shared memory is no part of [J]
		LinkGBps:    11.7,        // host to device, pinned [B]
		DuplexGBps:  21,          // estimate, not measured
		FaultGBps:   4.8,         // [U]
		MaxKernels:  128,         // [G]
		Lanes: unit.Work{ // [G], table of arithmetic throughput
			unit.FP32: 64, unit.FP64: 32,
			unit.FP16:     64, // pairs, so 128 results
			unit.Integer:  64,
			unit.Multiply: 64.0 / 3, // [G] has several instructions for it; three of 16 bits: estimate, not measured
			unit.Special:  16,
			unit.Convert:  16, unit.Convert64: 16, unit.Bits: 16,
			unit.Memory:  32, // shared memory delivers 128 bytes per cycle [J]; the 16 load and store units [P] show less of a limit
			unit.Shuffle: 32, unit.Vote: 64,
			unit.Branch:  32, // estimate, not measured
			unit.Tensor:  4,  // there are none; as many multiply-adds as the pairs of halves do: estimate, not measured
			unit.Texture: 4,  // four texture units of a bilinear texel each [P]
		},
		L1Cycles: 82, L2Cycles: 234, // [J]
		DRAMCycles: 434, // estimate, not measured: [J] has 234 for L2, and DRAM is some 200 behind that
		Limits: model.Limits{ // [G]
			ThreadsPerSM: 2048, ThreadsPerBlock: 1024, BlocksPerSM: 32,
			RegistersPerSM: 65536, RegistersPerWarp: 256,
			Schedulers:  2, // [P]; that each can issue a second instruction now and then is left out
			SharedPerSM: 64 << 10, SharedPerBlock: 48 << 10,
		},
	})
	gtx1660s = likeH200(model.Profile{
		Name: "NVIDIA GeForce GTX 1660 SUPER", ID: "gtx1660s", ComputeMajor: 7, ComputeMinor: 5,
		SMs:         22,         // [T]
		ClockMHz:    1785,       // MHz, boost [T]
		MemoryBytes: 6 << 30,    // bytes [T]
		MemoryGBps:  336,        // GDDR6 of 14 Gbit/s, 192 wires [T]
		MemoryShare: 0.88,       // as of a V100: estimate, not measured. [J] has 69 % for a T4, whose clock falls with its 70 W
		SMGBps:      64 * 1.785, // 64 bytes per cycle between an SM and L2: estimate, not measured
		L2Bytes:     1536 << 10, // bytes [T]
		// 768 bytes per cycle of 12 slices, times the 78 % that a T4 reaches of its 1024 [J]: estimate, not
		// measured.
		L2GBps:     0.78 * 768 * 1.785,
		L2Slices:   12,       // two for each of six memory controllers: estimate, not measured
		L1Bytes:    96 << 10, // [T]
		LinkGBps:   12,       // PCIe 3 x16 is 15.75 raw [T]; 12 after protocol overhead: estimate, not measured
		DuplexGBps: 21,       // estimate, not measured
		FaultGBps:  5,        // 0.42 of the link, as on a P100 [U]: estimate, not measured
		MaxKernels: 128,      // [G]
		Lanes: unit.Work{ // [G], table of arithmetic throughput
			unit.FP32: 64, unit.FP64: 2,
			unit.FP16:    64, // pairs, so 128 results
			unit.Integer: 64, unit.Multiply: 64,
			unit.Special:   16,
			unit.Convert:   16,
			unit.Convert64: 2, unit.Bits: 16,
			unit.Memory:  16, // load and store units [T]; shared memory of a T4 delivers 58 bytes per cycle [J]
			unit.Shuffle: 32, unit.Vote: 64,
			unit.Branch:  32, // estimate, not measured
			unit.Tensor:  8,  // matrices in the units for halves, 128 multiply-adds per cycle [T]: estimate, not measured
			unit.Texture: 4,  // four texture units of a bilinear texel each [T]
		},
		L1Cycles: 32, L2Cycles: 188, // [J], a T4
		DRAMCycles: 434, // estimate, not measured: [J] has 188 for L2, and GDDR6 is farther behind it than HBM2
		Limits: model.Limits{ // [G]
			ThreadsPerSM: 1024, ThreadsPerBlock: 1024, BlocksPerSM: 16,
			RegistersPerSM: 65536, RegistersPerWarp: 256, Schedulers: 4,
			SharedPerSM: 64 << 10, SharedPerBlock: 64 << 10,
		},
	})
	gtx960 = likeH200(model.Profile{
		Name: "NVIDIA GeForce GTX 960", ID: "gtx960", ComputeMajor: 5, ComputeMinor: 2,
		SMs:         8,          // [M]
		ClockMHz:    1178,       // MHz, boost [M]
		MemoryBytes: 2 << 30,    // bytes [M]
		MemoryGBps:  112,        // GDDR5 of 7 Gbit/s, 128 wires [M]
		MemoryShare: 0.79,       // an M60 reaches 127 of 160 GB/s [J]
		SMGBps:      64 * 1.178, // 64 bytes per cycle between an SM and L2: estimate, not measured
		L2Bytes:     1 << 20,    // bytes [M]
		L2GBps:      446.0 / 2,  // half of an M60's [J]: estimate, not measured
		L2Slices:    8,          // half of a GM204's 16: estimate, not measured
		L1Bytes:     24 << 10,   // bytes of L1, which shared memory is no part of [J], an M60
		LinkGBps:    12,         // PCIe 3 x16 is 15.75 raw [M]; 12 after protocol overhead: estimate, not measured
		DuplexGBps:  21,         // estimate, not measured
		MaxKernels:  32,         // [G]
		Lanes: unit.Work{ // [G], table of arithmetic throughput
			unit.FP32: 128, unit.FP64: 4,
			unit.FP16:     32, // pairs; there is no arithmetic on halves, and converting them is what it costs: estimate, not measured
			unit.Integer:  128,
			unit.Multiply: 128.0 / 3, // [G] has several instructions for it; three of 16 bits: estimate, not measured
			unit.Special:  32,
			unit.Convert:  32, unit.Convert64: 4, unit.Bits: 32,
			unit.Memory:  32, // load and store units [M]
			unit.Shuffle: 32, unit.Vote: 64,
			unit.Branch:  32, // estimate, not measured
			unit.Tensor:  4,  // there are none; half as many multiply-adds as it does of floats: estimate, not measured
			unit.Texture: 8,  // eight texture units of a bilinear texel each [M]
		},
		L1Cycles: 82, L2Cycles: 207, // [J], an M60
		DRAMCycles: 407, // estimate, not measured: [J] has 207 for L2, and DRAM is some 200 behind that
		Limits: model.Limits{ // [G]
			ThreadsPerSM: 2048, ThreadsPerBlock: 1024, BlocksPerSM: 32,
			RegistersPerSM: 65536, RegistersPerWarp: 256, Schedulers: 4,
			SharedPerSM: 96 << 10, SharedPerBlock: 48 << 10,
		},
	})
)
