//go:build cuda || mpi

package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/internal/transport/mpi"
	"github.com/reprise-gpu/reprise/internal/transport/mpi/mpitest"
	"github.com/reprise-gpu/reprise/internal/transport/transporttest"
)

// A test starts this test program again with mpirun. The variable then names what its ranks do: one of programs, with
// its argument behind a colon.
const programVariable = "REPRISE_TEST_RANKS"

var programs = map[string]func(argument string) error{
	"check": rankCheck,
	"end":   rankEnd,
	"run":   rankRun,
	"host":  rankHost,
	"busy":  rankBusy,
}

func init() { runtime.LockOSThread() } // main runs on the first thread, which a host program may have initialised MPI on

func TestMain(m *testing.M) {
	name, argument, _ := strings.Cut(os.Getenv(programVariable), ":")
	program, isRank := programs[name]
	if !isRank {
		os.Exit(runTests(m))
	}
	if err := program(argument); err != nil {
		fmt.Fprintln(os.Stderr, "ERROR", err)
		os.Exit(1)
	}
}

func runTests(m *testing.M) int {
	defer mpitest.Clean()
	return m.Run()
}

// mpirun returns the command that starts n ranks of a program.
func mpirun(t *testing.T, n int, program string, environment ...string) *exec.Cmd {
	t.Helper()
	c := mpitest.Command(t, n, os.Args[0])
	c.Env = append(append(c.Env, programVariable+"="+program), environment...)
	return c
}

func rankCheck(string) error {
	ctx := context.Background()
	if limit, err := strconv.Atoi(os.Getenv("MAX_GATHER")); err == nil {
		mpi.SetMaxGather(limit)
	}
	t, err := mpi.Open(ctx, mpi.Options{Funneled: os.Getenv("FUNNELED") != ""})
	if err != nil {
		return err
	}
	if err := errors.Join(recoverFault(), runChecks(ctx, t)); err != nil {
		return fmt.Errorf("rank %d of %d: %w", t.Rank(), t.Size(), err)
	}
	return t.Close()
}

// recoverFault checks that faults are still handled by Go, and not by a handler of MPI.
func recoverFault() (err error) {
	defer func() {
		if r := recover(); r == nil {
			err = errors.New("a nil pointer did not panic")
		}
	}()
	var missing *os.ProcAttr
	return errors.New(missing.Dir)
}

// runChecks runs all checks, or the quick ones.
func runChecks(ctx context.Context, t transport.Transport) error {
	for _, check := range transporttest.Checks {
		if slow := check.Name == "restart" || check.Name == "agree"; slow && os.Getenv("QUICK") != "" {
			continue
		}
		began := time.Now()
		if err := check.Run(ctx, t); err != nil {
			return fmt.Errorf("check %s: %w", check.Name, err)
		}
		if t.Rank() == 0 {
			fmt.Println("ok", check.Name, time.Since(began).Round(time.Millisecond))
		}
	}
	return nil
}

// expectChecks runs the checks on n ranks.
func expectChecks(t *testing.T, n int, quick bool, environment ...string) {
	t.Helper()
	expected := len(transporttest.Checks)
	if quick {
		environment, expected = append(environment, "QUICK=1"), expected-2
	}
	text, err := mpirun(t, n, "check", environment...).CombinedOutput()
	assert.NoError(t, err, "%s", text)
	assert.Equal(t, expected, strings.Count(string(text), "ok "), "%s", text)
	t.Logf("%s", text)
}

func TestConforms(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { expectChecks(t, n, testing.Short()) })
	}
}

// TestFaultsBelongToGo loads a library whose constructor installs a handler for faults, as UCX does.
func TestFaultsBelongToGo(t *testing.T) {
	c := mpirun(t, 1, "check", "QUICK=1")
	library := filepath.Join(t.TempDir(), "library.so")
	require.NoError(t, mpitest.Build(library, "shim/shim.c", "testdata/handler.c"))
	c.Env = append(c.Env, "REPRISE_MPI="+library)
	text, err := c.CombinedOutput()
	assert.NoError(t, err, "%s", text)
}

// TestGathersInPieces allows few bytes in one gather of MPI, so that most gathers need several.
func TestGathersInPieces(t *testing.T) {
	for _, limit := range []int{1, 1000, 100_000} {
		expectChecks(t, 2, true, fmt.Sprintf("MAX_GATHER=%d", limit))
	}
	expectChecks(t, 3, true, "MAX_GATHER=1000")
}

// TestConformsFunneled lets one thread make all calls of MPI.
func TestConformsFunneled(t *testing.T) { expectChecks(t, 2, true, "FUNNELED=1") }

func rankEnd(name string) error {
	ctx := context.Background()
	i := slices.IndexFunc(transporttest.Endings, func(c transporttest.Check) bool { return c.Name == name })
	ending := transporttest.Endings[i]
	t, err := mpi.Open(ctx, mpi.Options{Options: transporttest.OptionsOf(ending)})
	if err != nil {
		return err
	}
	if err := ending.Run(ctx, t); err != nil {
		return fmt.Errorf("rank %d of %d: %w", t.Rank(), t.Size(), err)
	}
	fmt.Println("ended", t.Rank())
	time.Sleep(300 * time.Millisecond) // the first to exit ends the others
	return nil
}

func TestEnds(t *testing.T) {
	for _, ending := range transporttest.Endings {
		t.Run(ending.Name, func(t *testing.T) {
			text, _ := mpirun(t, 4, "end:"+ending.Name).CombinedOutput() // ranks exit without MPI_Finalize
			assert.Equal(t, 4, strings.Count(string(text), "ended "), "%s", text)
			assert.NotContains(t, string(text), "ERROR")
		})
	}
}

// rankRun exchanges messages until a rank is lost. It writes its process id to a file, and at the end the error.
func rankRun(folder string) error {
	ctx := context.Background()
	t, err := mpi.Open(ctx, mpi.Options{})
	if err != nil {
		return err
	}
	write := func(name, text string) error {
		return os.WriteFile(filepath.Join(folder, fmt.Sprint(name, t.Rank())), []byte(text), 0o600)
	}
	if err := write("pid", fmt.Sprint(os.Getpid())); err != nil {
		return err
	}
	err = exchangeForever(ctx, t)
	return errors.Join(err, write("error", err.Error()), t.Close())
}

func exchangeForever(ctx context.Context, t transport.Transport) error {
	next, previous := (t.Rank()+1)%t.Size(), (t.Rank()+t.Size()-1)%t.Size()
	e, err := t.Freeze([]transport.Message{{Peer: next, Send: true, Bytes: make([]byte, 100_000)}, {Peer: previous, Bytes: make([]byte, 100_000)}})
	for run := 0; err == nil; run++ {
		switch err = e.Run(ctx); {
		case err == nil && run%10 == 0:
			_, err = t.Gather(ctx, []byte("some bytes"))
		case run%7 == t.Rank():
			time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond) // the rank computes
		}
	}
	return err
}

// TestKilledRank kills one of four ranks at a random moment. All others report which one, and no process is left.
func TestKilledRank(t *testing.T) {
	const ranks = 4
	times := 50
	if testing.Short() {
		times = 3
	}
	for i := range times {
		folder := t.TempDir()
		c := mpirun(t, ranks, "run:"+folder)
		var text bytes.Buffer
		c.Stdout, c.Stderr = &text, &text
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("%s", text.String())
			}
		})
		require.NoError(t, c.Start())
		pids := awaitPIDs(t, folder, ranks)
		victim := rand.IntN(ranks)
		time.Sleep(time.Duration(rand.IntN(100_000)) * time.Microsecond)
		killed := time.Now()
		require.NoError(t, syscall.Kill(pids[victim], syscall.SIGKILL))
		assert.Error(t, c.Wait())
		for rank, pid := range pids {
			assert.Eventually(t, func() bool { return !runs(pid) }, 10*time.Second, time.Millisecond, "time %d: process %d of rank %d is left", i, pid, rank)
			if rank == victim {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, fmt.Sprint("error", rank)))
			assert.NoError(t, err, "time %d: rank %d ended without an error", i, rank)
			assert.Contains(t, string(text), fmt.Sprintf("rank %d is lost: its process ended", victim), "time %d: rank %d", i, rank)
		}
		assert.Less(t, time.Since(killed), 30*time.Second)
	}
}

// runs reports whether a process runs. A zombie does not: it has ended, and its parent has not asked for its status.
func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// rankBusy computes for a minute, without a call of the transport. Rank 1 ends at once.
func rankBusy(string) error {
	t, err := mpi.Open(context.Background(), mpi.Options{})
	if err != nil {
		return err
	}
	if t.Rank() == 1 {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	time.Sleep(time.Minute)
	return nil
}

// TestBusyRanksNameTheLostRank: mpirun ends ranks that make no call. They write the reason before.
func TestBusyRanksNameTheLostRank(t *testing.T) {
	began := time.Now()
	text, err := mpirun(t, 3, "busy").CombinedOutput()
	assert.Error(t, err)
	for _, rank := range []int{0, 2} {
		assert.Contains(t, string(text), fmt.Sprintf("rank %d ends on SIGTERM: rank 1 is lost: its process ended\n", rank))
	}
	assert.Less(t, time.Since(began), 20*time.Second)
}

// awaitPIDs returns the processes of all ranks when all have opened the transport.
func awaitPIDs(t *testing.T, folder string, ranks int) []int {
	t.Helper()
	pids := make([]int, ranks)
	for rank := range pids {
		require.Eventually(t, func() bool {
			text, _ := os.ReadFile(filepath.Join(folder, fmt.Sprint("pid", rank)))
			pids[rank], _ = strconv.Atoi(string(text))
			return pids[rank] > 0
		}, time.Minute, time.Millisecond, "rank %d has not opened the transport", rank)
	}
	return pids
}

// rankHost uses the MPI of a host program, which has initialised it on the first thread.
func rankHost(string) error {
	ctx := context.Background()
	for range 2 { // Close does not finalise MPI
		t, err := mpi.Open(ctx, mpi.Options{})
		if err != nil {
			return err
		}
		if err := errors.Join(transporttest.Checks[0].Run(ctx, t), t.Close()); err != nil {
			return err
		}
	}
	t, err := mpi.Open(ctx, mpi.Options{})
	if err != nil {
		return err
	}
	other := make(chan error)
	go func() {
		runtime.LockOSThread()
		_, err := t.Freeze(nil)
		other <- err
	}()
	if err := <-other; err == nil || !strings.Contains(err.Error(), "MPI was initialised by another thread") {
		return fmt.Errorf("a call from another thread returned %v", err)
	}
	fmt.Println("hosted")
	time.Sleep(300 * time.Millisecond) // the first to exit ends the others
	return nil
}

// TestHost preloads a library that initialises MPI before this program starts.
func TestHost(t *testing.T) {
	c := mpirun(t, 2, "host")
	host := filepath.Join(t.TempDir(), "host.so")
	require.NoError(t, mpitest.Build(host, "testdata/host.c"))
	c.Args = append(c.Args[:len(c.Args)-1], "-x", "LD_PRELOAD="+host, c.Args[len(c.Args)-1])
	text, _ := c.CombinedOutput()
	assert.Equal(t, 2, strings.Count(string(text), "hosted"), "%s", text)
}
