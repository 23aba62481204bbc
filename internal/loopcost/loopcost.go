// Package loopcost estimates what each lowering of a loop adds to the time of its iterations. Package graphexec/loop and the
// command advise choose by these estimates.
package loopcost

import "time"

// Lowering is where the condition of a loop is evaluated.
type Lowering uint8

const (
	Host     Lowering = iota // the host replays the body and reads the scalar
	Unrolled                 // the host launches graphs of several iterations and reads the scalar
	While                    // the device evaluates the condition, in a while node of a graph
	Lowerings
)

// Loop has the numbers on which the choice of a lowering depends.
type Loop struct {
	Iterations int           // expected number
	Limit      int           // most iterations
	CheckEvery int           // iterations between two checks
	Batch      int           // iterations of a graph; 0 tries all that the loop allows
	Ahead      bool          // iterations past the end may run
	Known      bool          // Iterations is exact and known before the loop begins, so that none runs past the end
	Ops        int           // operations of an iteration
	Replay     time.Duration // host's time to replay an iteration
	Body       time.Duration // device's time of an iteration
	Save       time.Duration // device's time to keep the state of a period, if it may have to be undone
}

// Option is a way to lower a loop.
type Option struct {
	Lowering Lowering
	Batch    int           // iterations of a graph
	Ahead    bool          // the next period begins before the result of a check has arrived
	Prepare  time.Duration // before the first iteration, in addition to instantiating one
	Overhead time.Duration // all iterations without their bodies
}

// Costs that are assumed for every device, because they cannot be measured without side effects.
const (
	moduleLoad = 2 * time.Millisecond // for a driver to compile a kernel as small as that of a while node
	RootGap    = time.Microsecond     // from a graph in a stream to the next
)

const (
	maxNodes = 1 << 16 // limit of the nodes of an unrolled graph whose size the caller did not choose
	maxTimes = 1 << 30 // more iterations are estimated like this number, so that a Duration does not overflow
)

// Options lists the ways to lower the loop. With K iterations, batches of n cost
//
//	n·c + K/n·l		c to instantiate an iteration, l to launch a graph
//
// which is least at n = sqrt(K·l/c) (J. Ekelund et al., "Boosting Performance of Iterative Applications
// on GPUs: Kernel Batching with CUDA Graphs", 2025), independent of the kernels. Here l is the part of a
// launch that a batch on the device does not hide. Added is the cost of a look for each check. If periods overlap, the
// host does not wait for a look, which then costs less, but the iterations past the end are added. A round of the device's
// own loop is assumed to cost as much as a launch.
func (l Loop) Options(c Costs) (all []Option) {
	l.Iterations = min(l.Iterations, maxTimes)
	k := l.CheckEvery
	for _, ahead := range []bool{false, true} {
		all = append(all, Option{Host, 1, ahead, 0, l.launches(1, l.Replay) + l.looks(c, k, ahead)})
	}
	for _, n := range l.batches() {
		build := time.Duration(n*l.Ops) * c.Node
		if k%n == 0 {
			all = append(all, Option{While, n, false, build + moduleLoad, l.times(n, c.Launch) + c.Look},
				Option{Unrolled, n, false, build, l.launches(n, c.Launch) + l.looks(c, k, false)})
		}
		all = append(all, Option{Unrolled, n, true, build, l.launches(n, c.Launch) + l.looks(c, max(n, k), true)})
	}
	return all
}

// times returns the time of all iterations if n iterations take d.
func (l *Loop) times(n int, d time.Duration) time.Duration {
	return time.Duration((l.Iterations+n-1)/n) * d
}

// launches returns the overhead of launching n iterations at a time.
func (l *Loop) launches(n int, d time.Duration) time.Duration {
	return l.times(n, max(d-time.Duration(n)*l.Body, RootGap))
}

// looks returns the overhead of a check after every n iterations.
func (l *Loop) looks(c Costs, n int, ahead bool) time.Duration {
	n = min(n, maxTimes)
	if !ahead {
		return l.times(n, c.Look)
	}
	hidden := max(2*c.Submit-time.Duration(n)*l.Body, RootGap) // submitting the copy and returning from the wait, without a round trip
	cost := l.times(n, hidden+l.Save)
	if l.Known {
		return cost
	}
	return cost + time.Duration(n+n/2)*l.Body
}

// batches returns the numbers of iterations that a graph of the loop may hold.
func (l *Loop) batches() (sizes []int) {
	if l.Batch > 0 {
		return []int{l.Batch}
	}
	most := max(1, maxNodes/l.Ops)
	for n := 1; n <= min(l.CheckEvery, most); n++ {
		if l.CheckEvery%n == 0 {
			sizes = append(sizes, n)
		}
	}
	if !l.Ahead {
		return sizes
	}
	for n := 2; n <= min(most, l.Limit)/l.CheckEvery; n++ {
		sizes = append(sizes, n*l.CheckEvery)
	}
	return sizes
}
