// Package browser drives a headless Chromium through its debugging pipe, for tests of pages.
//
//	test ─► Page.Eval, Click, Key, Screenshot ─► JSON and a zero byte over two pipes ─► chromium --remote-debugging-pipe
//
// The protocol is the Chrome DevTools Protocol. Over pipes it needs neither a port nor a library for WebSocket.
package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// Find returns the path of a Chromium on this machine, "" if there is none.
func Find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Browser is a running Chromium.
type Browser struct {
	cmd    *exec.Cmd
	to     *os.File
	stderr *os.File

	mu      sync.Mutex
	next    int
	pending map[int]chan message
	events  func(message)
	failed  error
	done    chan struct{} // closed when the pipe ends
}

// message is a command, an answer or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// flags start a Chromium that makes no connections of its own, also as root in a container.
var flags = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-default-browser-check",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
	"--disable-dev-shm-usage", "--disable-breakpad", "--mute-audio", "--hide-scrollbars", "--force-color-profile=srgb",
	"--remote-debugging-pipe",
}

// Start starts a Chromium. Its profile and its log are in folder dir. It ends with ctx or Close.
func Start(ctx context.Context, path, dir string) (_ *Browser, err error) {
	fromUs, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, toUs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, fromUs.Close(), to.Close())
	}
	log, err := os.Create(dir + "/chromium.log")
	if err != nil {
		return nil, errors.Join(err, fromUs.Close(), to.Close(), from.Close(), toUs.Close())
	}
	b := &Browser{to: to, stderr: log, pending: map[int]chan message{}, done: make(chan struct{})}
	b.cmd = exec.CommandContext(ctx, path, append(append([]string(nil), flags...), "--user-data-dir="+dir+"/profile", "about:blank")...)
	b.cmd.ExtraFiles = []*os.File{fromUs, toUs} // file descriptors 3 and 4
	b.cmd.Stderr, b.cmd.Stdout = log, log
	err = b.cmd.Start()
	err = errors.Join(err, fromUs.Close(), toUs.Close())
	if err != nil {
		return nil, errors.Join(err, to.Close(), from.Close(), log.Close())
	}
	go b.read(from)
	return b, nil
}

// read passes answers to their callers until the pipe ends.
func (b *Browser) read(from *os.File) {
	defer from.Close()
	in := bufio.NewReader(from)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			b.fail(fmt.Errorf("the browser has ended: %w", err))
			return
		}
		var m message
		if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
			b.fail(fmt.Errorf("the browser sent no JSON: %w", err))
			return
		}
		b.mu.Lock()
		answer, events := b.pending[m.ID], b.events
		delete(b.pending, m.ID)
		b.mu.Unlock()
		switch {
		case m.ID != 0 && answer != nil:
			answer <- m
		case m.ID == 0 && events != nil:
			events(m)
		}
	}
}

func (b *Browser) fail(err error) {
	b.mu.Lock()
	b.failed = err
	b.mu.Unlock()
	close(b.done)
}

// call sends a command and waits for the answer.
func (b *Browser) call(ctx context.Context, session, method string, params, result any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	b.next++
	m := message{ID: b.next, Session: session, Method: method, Params: text}
	b.pending[m.ID] = answer
	text, err = json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m = <-answer:
	case <-b.done:
		return fmt.Errorf("%s: %w", method, b.failed)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
	switch {
	case m.Error != nil:
		return fmt.Errorf("%s: %s", method, m.Error.Message)
	case result == nil:
		return nil
	}
	return json.Unmarshal(m.Result, result)
}

// Close ends the browser.
func (b *Browser) Close() error {
	err := b.to.Close() // which the browser takes as the end
	<-b.done
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait() // the status of a killed process is of no interest
	return errors.Join(err, b.stderr.Close())
}

// Log returns what the browser has printed.
func (b *Browser) Log() string {
	text, err := os.ReadFile(b.stderr.Name())
	if err != nil && !errors.Is(err, io.EOF) {
		return err.Error()
	}
	return string(text)
}
