package share

import (
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// Policy decides which program runs next.
type Policy = sharing.Policy

// FillOptions are the parameters of Fill. Zero values have defaults.
type FillOptions struct {
	Unit   time.Duration // programs are cut into units of this time, where kernels can be cut; 20 us
	Piece  time.Duration // the longest run of units that is submitted at once; 100 us
	Depth  int           // pieces in flight; 2
	Target float64       // for the delay of a program, as a fraction of its time alone; 0.01
	// Flag lets the device run the units of other programs by itself, until a flag that is set at the arrival of a greater
	// priority stops it. The wait is then for one unit. Each unit takes some microseconds longer. Depth is ignored, and Piece, 40 us
	// if it is 0, is the longest unit that is submitted without regard to the gap. The device must have conditional
	// nodes with several bodies (CUDA 12.8), and programs must have no host calls and no prefetches. Only New takes such a
	// policy.
	Flag bool
}

// Fill returns the policy that runs programs in the gaps of those with greater priorities.
//
//   - Programs of the greatest priority are submitted at once, uncut.
//   - Others are cut into pieces. They run while all programs with greater priorities are idle, and the next piece is
//     the longest run of units that fits into a quantile of gaps like the present one, and into Piece.
//   - A unit that does not fit is submitted alone if the delay that it is expected to cause is small for its work.
//   - The quantile, that fraction and the length of a piece follow the delays, so that they stay below Target.
//   - A program that has been kept waiting runs a unit in any case, seldom enough that Target holds.
func Fill(o FillOptions) Policy {
	return sharing.NewFill(sharing.Fill{Unit: o.Unit, Piece: o.Piece, Depth: o.Depth, Target: o.Target, Flag: o.Flag})
}

// Exclusive returns the policy that gives the device to one stage after another, greater priorities first.
func Exclusive() Policy { return sharing.Exclusive{} }

// Streams returns the policy of programs with a stream each, which keep a number of kernels in flight. With priorities,
// the streams have them, and the device starts the blocks of greater ones first.
func Streams(depth int, priorities bool) Policy {
	return &sharing.Streams{Depth: max(1, depth), Priority: priorities}
}
