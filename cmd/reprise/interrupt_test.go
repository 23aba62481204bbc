package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheSecondInterruptKills interrupts a copy of the test itself until it dies.
func TestTheSecondInterruptKills(t *testing.T) {
	const child = "REPRISE_TEST_INTERRUPTED"
	if os.Getenv(child) != "" {
		ctx, stop := interruptible(context.Background())
		defer stop()
		_, _ = os.Stdout.WriteString("ready")
		<-ctx.Done()
		time.Sleep(time.Minute) // a replay that takes long
		return
	}
	c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), child+"=1")
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, err = out.Read(make([]byte, 8))
	require.NoError(t, err)
	sent := 0
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	for deadline := time.After(30 * time.Second); ; {
		_ = c.Process.Signal(os.Interrupt)
		sent++
		select {
		case <-done:
			assert.Equal(t, syscall.SIGINT, c.ProcessState.Sys().(syscall.WaitStatus).Signal())
			assert.GreaterOrEqual(t, sent, 2)
			return
		case <-deadline:
			_ = c.Process.Kill()
			t.Fatal("interrupts did not end the process")
		case <-time.After(50 * time.Millisecond):
		}
	}
}
