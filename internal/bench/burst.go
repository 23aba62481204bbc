package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// burst measures Config.Burst replays that are submitted back to back, after the iterations. Between them the host
// writes no input and reads no result. If results are computed, all memory that outlives a replay must hold the bytes
// that as many serial replays leave.
func (r *runner) burst(ctx context.Context, dev device.Device, in *Instance, exec *graphexec.Exec, rec *Record) (err error) {
	copies := max(1, rec.Copies)
	if r.Burst%copies != 0 {
		return fmt.Errorf("%d replays are no multiple of the %d that %s submits at once", r.Burst, copies, rec.Also)
	}
	took, err := burstOnce(ctx, dev, in, exec, r.Burst/copies)
	if err != nil {
		return err
	}
	rec.Burst, rec.BurstUS = r.Burst, micros(took)/float64(r.Burst)
	if rec.Checked {
		rec.BurstHash, err = r.serial.compare(ctx, rec, r.Burst)
	}
	return err
}

// burstOnce measures n submissions and the wait for the last of them.
func burstOnce(ctx context.Context, dev device.Device, in *Instance, exec *graphexec.Exec, n int) (time.Duration, error) {
	if err := in.Reset(); err != nil {
		return 0, err
	}
	start := dev.Now()
	for range n {
		if err := exec.Replay(ctx); err != nil {
			return 0, err
		}
	}
	err := exec.Wait(ctx)
	return dev.Now() - start, err
}

// serialReplays computes what replays of the serial plan leave in memory, of which each waits for the previous one.
type serialReplays struct {
	dev     device.Device
	in      *Instance
	backend graphexec.Backend
	left    map[int]string // by number of replays: the hash of the memory after them
}

// compare compares the present memory with what n serial replays of the same inputs leave. It returns the hash of
// the present memory. A difference on a simulated device makes the record wrong. On a GPU, the order of atomic
// additions varies from replay to replay, and with it the bytes: there the hash is "".
func (s *serialReplays) compare(ctx context.Context, rec *Record, n int) (string, error) {
	if !rec.Simulated {
		return "", nil
	}
	got, err := s.in.memoryHash()
	if err != nil {
		return "", err
	}
	want, err := s.after(ctx, n)
	if err != nil {
		return "", err
	}
	if got != want && rec.OK {
		rec.OK, rec.Error = false, fmt.Sprintf("memory after %d replays differs from that after as many serial replays", n)
	}
	return got, nil
}

// after returns the hash of the memory that n serial replays leave.
func (s *serialReplays) after(ctx context.Context, n int) (hash string, err error) {
	if hash, ok := s.left[n]; ok {
		return hash, nil
	}
	plain := *s.in
	plain.Also = nil
	plan, err := plain.Plan(s.dev, serial, s.backend)
	if err != nil {
		return "", err
	}
	exec, err := graphexec.Instantiate(s.dev, plan.Schedule, s.in.Trace, s.backend)
	if err != nil {
		return "", err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	if err := s.in.Reset(); err != nil {
		return "", err
	}
	for range n {
		if err := replay(ctx, exec); err != nil {
			return "", err
		}
	}
	if hash, err = s.in.memoryHash(); err != nil {
		return "", err
	}
	if s.left == nil {
		s.left = map[int]string{}
	}
	s.left[n] = hash
	return hash, nil
}

// memoryHash returns the hash, in hexadecimal digits, of all memory that outlives a replay.
func (in *Instance) memoryHash() (string, error) {
	var sum uint64
	for _, b := range in.program.kept {
		contents := make([]byte, b.Bytes())
		if err := tracer.Read(contents, b); err != nil {
			return "", err
		}
		sum = input.Hash(sum, contents)
	}
	return fmt.Sprintf("%016x", sum), nil
}

// keep notes a buffer whose contents outlive a replay, and returns it.
func (t *program) keep(b tracer.Buffer) tracer.Buffer {
	if b.Declaration().Role != ir.Temporary {
		t.kept = append(t.kept, b)
	}
	return b
}
