package sim_test

import (
	"hash/maphash"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// workers is how many goroutines the devices of the kernel tests use, and results
// is what they read back, when somebody wants to know.
var (
	workers int
	results *readings
)

// readings is what was read of a device, as hashes, and when.
type readings struct {
	seed   maphash.Seed
	hashes []uint64
	times  []time.Duration
}

func (r *readings) add(b []byte, now time.Duration) {
	r.hashes = append(r.hashes, maphash.Bytes(r.seed, b))
	r.times = append(r.times, now)
}

// kernelTests are the tests of kernels_*_test.go that read results.
var kernelTests = []func(*testing.T){
	TestAtomics, TestAtomicsReturnWhatWas, TestAtomicsOf64Bits, TestAtomicsOfFloats, TestAtomicsOfAScope,
	TestAtomicsOf16Bits, TestGridBarrier, TestGridBarrierNeedsACooperativeLaunch,
	TestCooperativeGridMustFit, TestLookBack, TestBlocksTakeTurns, TestFFTOfABlock, TestFFTByStages,
	TestStructByValue, TestRecursion, TestAdaptiveQuadrature, TestFunctionPointers, TestVirtualFunctions,
	TestSwitchInALoop, TestTiledGemm, TestGemmInRegisters, TestTilesOfABlock, TestWarpAggregatedAtomics,
	TestVotes, TestHalvesOfAWarp, TestNamedBarriers, TestGridGroup,
	TestHalfArithmetic, TestHalfConversions, TestHalfDotProduct, TestHalfFunctions, TestHashTable,
	TestFullHashTable, TestHashTableOfPairs, TestHistograms, TestWeightedHistogram, TestIntegerArithmetic,
	TestDivisionByConstants, TestBitIntrinsics, TestPackedIntegers, TestCarryChains,
	TestSmallestInALocalArray, TestQueens, TestBytesInLocalMemory, TestStructsInALocalArray, TestSpinLocks,
	TestTicketLock, TestLanesWaitForALaneOfTheirWarp, TestListsUnderLocks, TestMandelbrot, TestCollatz,
	TestSaxpy, TestFivePoints, TestMathFunctions, TestMathFunctionsOfTwo, TestFastMathFunctions,
	TestDirectedRounding, TestNBody, TestPrintf, TestPrintfReturnsTheNumberOfArguments,
	TestFailedAssertion, TestTrap, TestHeapOfTheDevice, TestBlockReductions, TestTreeReduction,
	TestReductionByTheLastBlock, TestArgmax, TestWarpRedux, TestSoftmax, TestLayerNorm, TestGelu,
	TestScanOverBlocks, TestScanWithinBlocksOfDoubles, TestWorkEfficientScan, TestScanWithLookback,
	TestBitonicSort, TestBitonicSortInRegisters, TestRadixSort, TestSparseMatrixTimesVector,
	TestSparseMatrixInColumns, TestStar2D, TestHeat3D, TestLife, TestTranspose,
}

// TestResultsDoNotDependOnWorkers runs the tests of all kernels on 1, 2 and 8
// goroutines: same bytes, at the same virtual times.
func TestResultsDoNotDependOnWorkers(t *testing.T) {
	defer func() { workers, results = 0, nil }()
	read := 0
	for i, test := range kernelTests {
		if testing.Short() && i%4 != 0 {
			continue
		}
		name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
		name = name[strings.LastIndex(name, ".")+1:]
		run := func(n int) *readings {
			workers, results = n, &readings{seed: seed}
			require.True(t, t.Run(name, test))
			return results
		}
		want := run(1)
		read += len(want.hashes)
		n := []int{8, 2}[i%2]
		require.Equal(t, want, run(n), "%s on %d workers", name, n)
	}
	require.Greater(t, read, 100, "hardly anything was read back")
}

var seed = maphash.MakeSeed()
