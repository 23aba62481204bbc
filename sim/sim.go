// Package sim opens simulated GPUs. A simulated GPU executes the PTX of kernels and predicts, on a virtual clock, when
// a real device would finish. The same program gives the same bytes and the same times on every machine and in every
// run.
//
// A device of this package is a device.Device like any other. It also finds races: with Options.Race, a call that waits
// returns a RaceError when unordered operations have touched the same bytes. docs/SIMULATOR.md describes what is
// simulated, and docs/TIME-MODEL.md how times are computed.
package sim

import (
	"io"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Options configures a simulated GPU. The zero value is an H200 without checks for races.
type Options struct {
	// Profile is the ID of a device profile, or the path of a profile file (docs/PROFILE.md), which ends in .json. ""
	// means "h200".
	Profile string
	// Custom, if not nil, is used instead of Profile. Its figures have the same bounds as those of files
	// (docs/PROFILE.md).
	Custom *model.Profile
	// Memory is the size of device memory in bytes; 0 means that of the profile. The simulator needs host memory only
	// for allocations in use.
	Memory int64
	// Workers is the maximum number of goroutines that run the blocks of a launch; 0 means one per processor. It
	// affects neither results nor virtual times.
	Workers int
	// NoMemo makes every launch execute. By default a launch reuses the result of an earlier equal one, which affects
	// neither results nor virtual times.
	NoMemo bool
	// MemoBytes bounds the size of the stored results; 0 means 512 MiB.
	MemoBytes int64
	// Stdout receives the output of printf when the host waits for the device; nil means os.Stdout.
	Stdout io.Writer
	// Race makes calls that wait return a RaceError for races and for reads of uninitialised memory.
	Race bool
	// Sample, if positive, is the number of blocks that are run of each launch. Results are then meaningless, and
	// times of regular kernels are within 3 % of those of whole runs, times of irregular ones within 25 %.
	Sample int64
	// StepLimit is the maximum number of warp instructions of one block; a launch that exceeds it fails with a
	// timeout, as an endless loop should. 0 means 1<<31, minutes of host time.
	StepLimit int64
	// LoopLimit is the maximum number of iterations of a while node; a launch that exceeds it fails with a timeout.
	// 0 means 1<<24, minutes of host time.
	LoopLimit int64
}

// New opens a simulated GPU. The error names the profile or option that is wrong, and is model.ErrProfile for a figure of
// Custom.
func New(o Options) (device.Device, error) {
	p := sim.Options{
		Profile: o.Profile, Custom: o.Custom, Memory: o.Memory, Workers: o.Workers, MemoBytes: o.MemoBytes, Stdout: o.Stdout,
		Sample: o.Sample, StepLimit: o.StepLimit, LoopLimit: o.LoopLimit,
	}
	if o.NoMemo {
		p.Memo = sim.MemoOff
	}
	if o.Race {
		p.Race = sim.RaceOn
	}
	d, err := sim.New(p)
	if err != nil {
		return nil, err
	}
	return d, nil
}

type (
	// RaceError is the error of a call that waits for the device if races were found since the last one. Its field
	// Call names the call, and Findings has one Finding per problem. The call has done its work and the device stays
	// usable. No later call returns the same findings.
	RaceError = sim.RaceError
	// Finding is one problem: its Kind, the Subject (which bytes), the Accesses that conflict, and Advice. Its String
	// is a message of several lines. A Warning is most likely harmless, and no RaceError contains it.
	Finding = sim.Finding
	// FindingKind is the kind of a Finding.
	FindingKind = sim.FindingKind
	// Access is one access of a Finding: what it Does to the bytes, in which Work, Kernel and Thread, Where that was
	// enqueued, and the Places, which are instructions of the kernel.
	Access = sim.Access
)

// The kinds of findings.
const (
	// DataRace: two unordered operations access the same bytes, and at least one writes.
	DataRace = sim.DataRace
	// SharedRace: two threads of a block access the same bytes of shared memory without a barrier between, and at
	// least one writes.
	SharedRace = sim.SharedRace
	// UninitialisedRead: memory is read that was never written since its allocation. On a GPU its content is
	// undefined.
	UninitialisedRead = sim.UninitialisedRead
	// UndefinedShuffle: a lane reads the value of a lane that does not execute the shuffle. It is a warning, because
	// the result may not be used.
	UndefinedShuffle = sim.UndefinedShuffle
	// UndeclaredAccess: a block accesses bytes of a buffer of which the launch declares others; see tracer.PerBlock.
	UndeclaredAccess = sim.UndeclaredAccess
)
