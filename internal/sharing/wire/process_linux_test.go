package wire

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

var kills = flag.Int("kills", 100, "processes that are killed in the middle")

// TestMain runs a client if the environment states one: the tests start this binary again.
func TestMain(m *testing.M) {
	if words := strings.Fields(os.Getenv(clientVariable)); len(words) == 4 {
		class, _ := strconv.Atoi(words[1])
		requests, _ := strconv.Atoi(words[2])
		unit, _ := time.ParseDuration(words[3])
		if err := replays(words[0], class, requests, unit); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const clientVariable = "REPRISE_WIRE_CLIENT"

// replays runs a program of two stages on a device that takes real time. After a lost grant it registers again. It
// prints a line for each request.
func replays(path string, class, requests int, unit time.Duration) error {
	dev := wrap.Paced(null.New(), func(device.Work) time.Duration { return unit })
	stream, err := dev.CreateStream(0)
	if err != nil {
		return err
	}
	u := sharing.Unit{Time: unit}
	stages := []sharing.Stage{{Units: []sharing.Unit{u, u, u}}, {Units: []sharing.Unit{u}}}
	lost, err := 0, error(nil)
	for done := 0; done < requests; {
		done, err = session(path, class, stages, done, requests, func(n int) error {
			for range n {
				if err := dev.Submit(stream, device.Nothing{}); err != nil {
					return err
				}
			}
			return dev.Synchronize(stream)
		})
		if errors.Is(err, Lost) {
			lost++
			continue
		}
		if err != nil {
			return err
		}
	}
	fmt.Println("lost", lost)
	return nil
}

// session runs requests over one connection. It returns how many have ended.
func session(path string, class int, stages []sharing.Stage, done, requests int, run func(units int) error) (int, error) {
	c, err := Dial(path)
	if err != nil {
		return done, err
	}
	defer c.Close()
	if _, err := c.Register("client"+strconv.Itoa(class), class, stages); err != nil {
		return done, err
	}
	for ; done < requests; done++ {
		for i := range stages {
			if err := replay(c, i, run); err != nil {
				return done, err
			}
		}
		fmt.Println("request", done)
	}
	return done, nil
}

// replay runs one stage.
func replay(c *Client, stage int, run func(units int) error) error {
	if err := c.Arrive(stage); err != nil {
		return err
	}
	for {
		e, err := c.Receive()
		switch {
		case err != nil:
			return err
		case e.Kind == Ended:
			return nil
		}
		if err := run(e.Units); err != nil {
			return err
		}
		if err := c.Completed(); err != nil {
			return err
		}
	}
}

// process is a client that runs.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, path string, class, requests int, unit time.Duration) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d %v", clientVariable, path, class, requests, unit))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	p := &process{cmd, bufio.NewScanner(out)}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return p
}

// line returns the next line that a process prints, "" if it has ended.
func (p *process) line() string {
	if !p.lines.Scan() {
		return ""
	}
	return p.lines.Text()
}

func (p *process) kill(t *testing.T) {
	require.NoError(t, p.Process.Kill())
	_ = p.Wait()
}

// within fails the test if f takes long: nothing may hang.
func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
		if t.Failed() {
			t.FailNow()
		}
	case <-time.After(limit):
		buf := make([]byte, 1<<16)
		t.Fatalf("%s takes more than %v\n%s", what, limit, buf[:runtime.Stack(buf, true)])
	}
}

// TestKilledProcesses runs a program in a process beside others that are killed in the middle of requests, at
// random moments. The program's requests all end, and no grant is left.
func TestKilledProcesses(t *testing.T) {
	n := *kills
	if testing.Short() {
		n = min(n, 10)
	}
	start(t, "/", 0, 0, us).kill(t) // the runtime opens files of its own
	files := descriptors(t)
	for _, policy := range []sharing.Policy{sharing.NewFill(sharing.Fill{}), sharing.Exclusive{}} {
		s, path := serve(t, Options{Policy: policy, Lease: 20 * ms, Factor: 10_000})
		other := start(t, path, 9, 1<<30, 200*us)
		r := rand.New(rand.NewPCG(1, uint64(n)))
		var victims []*process // the next is started while others run
		for i := range n/2 + 2 {
			victims = append(victims, start(t, path, []int{0, 9}[i%2], 1<<30, 500*us))
			if i < 2 {
				continue
			}
			victim := victims[0]
			victims = victims[1:]
			within(t, time.Minute, "a request of a process", func() { require.Contains(t, victim.line(), "request") })
			time.Sleep(time.Duration(r.IntN(3000)) * us)
			victim.kill(t)
			within(t, time.Minute, "a request beside a killed process", func() { require.Contains(t, other.line(), "request") })
		}
		for _, p := range append(victims, other) {
			p.kill(t)
		}
		within(t, time.Minute, "the end of all leases", func() { waitEmpty(s) })
		require.NoError(t, s.Close())
	}
	assert.Equal(t, files, descriptors(t), "open files")
}

// waitEmpty waits until the core has neither programs nor grants.
func waitEmpty(s *Server) {
	for empty := false; !empty; time.Sleep(ms) {
		s.do(func() { empty = s.hub.core.Flying() == 0 && len(s.hub.clients) == 0 && len(s.byFD) == 0 })
	}
}

// descriptors returns the number of open files of this process.
func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

// TestStoppedProcesses stops a process while it has a grant, until the lease has ended. The other goes on, and the
// stopped one registers again and completes its requests.
func TestStoppedProcesses(t *testing.T) {
	times, requests := 10, 60
	if testing.Short() {
		times = 2
	}
	_, path := serve(t, Options{Policy: sharing.Exclusive{}, Lease: 30 * ms, Factor: 1})
	other := start(t, path, 0, 1<<30, 200*us)
	hung := start(t, path, 5, requests, 2*ms)
	lost := ""
	for range times {
		within(t, time.Minute, "a request", func() { lost = hung.line() })
		require.NoError(t, hung.Process.Signal(syscall.SIGSTOP))
		within(t, time.Minute, "requests beside a stopped process", func() {
			for range 5 {
				require.Contains(t, other.line(), "request")
			}
		})
		time.Sleep(35 * ms)
		require.NoError(t, hung.Process.Signal(syscall.SIGCONT))
	}
	within(t, time.Minute, "the requests of the process that was stopped", func() {
		for l := lost; l != ""; l = hung.line() {
			lost = l
		}
	})
	require.NoError(t, hung.Wait(), lost)
	assert.NotEqual(t, "lost 0", lost, "no stop met a grant")
	assert.Contains(t, lost, "lost ")
}

// TestServerEnds checks what clients get when the server stops: those that wait for a grant, and those that arrive late.
func TestServerEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	s, path := serve(t, Options{Policy: sharing.Exclusive{}})
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	p, q := dial(t, path, "p", 5, one(us)), dial(t, path, "q", 5, one(us))
	require.NoError(t, p.Arrive(0))
	e, err := p.Receive()
	require.NoError(t, err)
	assert.Equal(t, Event{Kind: Granted, Units: 1}, e)
	require.NoError(t, q.Arrive(0))
	waited := make(chan error)
	go func() { _, err := q.Receive(); waited <- err }()
	time.Sleep(5 * ms)
	require.NoError(t, s.Close())
	assert.ErrorIs(t, <-waited, Stopped)
	assert.ErrorIs(t, p.Completed(), Stopped)
	_, err = p.Receive()
	assert.ErrorIs(t, err, Stopped)
	assert.NoFileExists(t, path)
	require.NoError(t, s.Close(), "again")
	_, err = Dial(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "no server listens at "+path)
	p.Close()
	q.Close()
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); time.Sleep(ms) {
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// TestCloseEndsReceive closes a client that waits.
func TestCloseEndsReceive(t *testing.T) {
	s, path := serve(t, Options{})
	c := dial(t, path, "p", 5, one(us))
	waited := make(chan error)
	go func() { _, err := c.Receive(); waited <- err }()
	time.Sleep(5 * ms)
	require.NoError(t, c.Close())
	assert.ErrorIs(t, <-waited, ErrClosed)
	assert.ErrorIs(t, c.Arrive(0), ErrClosed)
	waitEmpty(s)
}

// TestMistakesOfClients checks what clients refuse, and what the server answers.
func TestMistakesOfClients(t *testing.T) {
	_, path := serve(t, Options{Limits: Limits{Clients: 2, Units: 3, Waiting: 1}})
	c, err := Dial(path)
	require.NoError(t, err)
	assert.Equal(t, "fill", c.Policy())
	assert.Equal(t, sharing.NewFill(sharing.Fill{}).Form(), c.Form())
	for _, err := range []error{second(c.Register("", 1, one(us))), second(c.Register("a\n", 1, one(us))), second(c.Register("p", 10, one(us))), second(c.Register("p", 1, nil))} {
		assert.Error(t, err)
	}
	class, err := c.Register("p", 3, one(us))
	require.NoError(t, err)
	assert.Equal(t, 3, class)
	assert.ErrorContains(t, c.Completed(), "no grant is in flight")
	assert.ErrorContains(t, c.Arrive(-1), "stage -1 is not in")
	require.NoError(t, c.Cancel())
	e, err := c.Receive()
	require.NoError(t, err)
	assert.Equal(t, Event{Kind: Canceled}, e)

	d, err := Dial(path)
	require.NoError(t, err)
	_, err = Dial(path)
	assert.ErrorIs(t, err, Clients)
	_, err = d.Register("d", 1, []sharing.Stage{{Units: make([]sharing.Unit, 50_000)}})
	assert.ErrorIs(t, err, Units)
	assert.EqualError(t, err, "sharing: a program may have 3 units: cut it into fewer")

	require.NoError(t, c.Arrive(0))
	require.NoError(t, c.Arrive(0))
	for err = nil; err == nil; _, err = c.Receive() {
	}
	assert.ErrorIs(t, err, Waiting)
	c.Close()
	d.Close()
}

func second[T any](_ T, err error) error { return err }

// TestSockets checks which files a server replaces.
func TestSockets(t *testing.T) {
	s, path := serve(t, Options{})
	_, err := Serve(path, Options{})
	assert.EqualError(t, err, "a server listens at "+path+": stop it, or use another socket")
	round(t, dial(t, path, "p", 9, one(us)))
	require.NoError(t, s.Close())

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]string{
		"":                                    "the path of the socket is empty",
		strings.Repeat("x", 108):              "more than the 107 that the system takes: use a shorter one",
		file:                                  "the file exists and is not a socket",
		filepath.Join(t.TempDir(), "no", "s"): "no such file or directory",
		"a\x00b":                              "the path of the socket has a zero byte",
	} {
		_, err := Serve(path, Options{})
		assert.ErrorContains(t, err, want)
		_, err = Dial(path)
		assert.Error(t, err)
	}
	assert.FileExists(t, file)
}

// TestStaleSocket starts several servers at the socket of one that was killed: one of them gets it.
func TestStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	dead, err := listen(path, 0o600)
	require.NoError(t, err)
	require.NoError(t, syscall.Close(dead.fd)) // the file stays
	_, err = Dial(path)
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	started := make(chan *Server, 4)
	for range cap(started) {
		go func() { s, _ := Serve(path, Options{Mode: 0o660}); started <- s }()
	}
	n := 0
	for range cap(started) {
		if s := <-started; s != nil {
			n++
			defer s.Close()
		}
	}
	assert.Equal(t, 1, n)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o660), info.Mode().Perm())
	round(t, dial(t, path, "p", 9, one(us)))
}

// TestAClientThatDoesNotRead ends the connection of one that only sends.
func TestAClientThatDoesNotRead(t *testing.T) {
	s, path := serve(t, Options{Limits: Limits{Rate: 1 << 30}})
	other := dial(t, path, "other", 9, one(us))
	c := dial(t, path, "p", 5, one(us))
	var err error
	for err == nil {
		_, err = c.file.Write(frame{kind: cancel}.append(nil))
	}
	round(t, other)
	c.Close()
	other.Close()
	waitEmpty(s)
}

// TestSplitFrames sends frames byte by byte, and noise.
func TestSplitFrames(t *testing.T) {
	s, path := serve(t, Options{})
	at, err := address(path)
	require.NoError(t, err)
	fd, err := connectPatiently(at)
	require.NoError(t, err)
	f := os.NewFile(uintptr(fd), path)
	for _, b := range append(frame{kind: hello, small: version, long: magic}.append(nil), description("p", 9, one(us))...) {
		_, err := f.Write([]byte{b})
		require.NoError(t, err)
	}
	got := make([]byte, 3*frameSize)
	_, err = io.ReadFull(f, got)
	require.NoError(t, err)
	var last frame
	last.read(got[2*frameSize:])
	assert.Equal(t, frame{kind: registered, small: 9}, last)
	f.Close()
	for seed := range byte(50) {
		fd, err := connectPatiently(at)
		require.NoError(t, err)
		noise := make([]byte, 4096)
		rand.NewChaCha8([32]byte{seed}).Read(noise)
		f := os.NewFile(uintptr(fd), path)
		_, _ = f.Write(noise)
		_, err = io.Copy(io.Discard, f)
		assert.True(t, err == nil || errors.Is(err, syscall.ECONNRESET), "%v", err)
		f.Close()
	}
	waitEmpty(s)
}
