package validation

import (
	"encoding/binary"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// contract is a row on a device, ready to be timed.
type contract struct {
	dev    device.Device
	stream device.Stream
	launch [2]*device.Launch // the second exchanges the first two arguments
	other  device.Ptr        // what flush fills; 0 if not allocated yet
}

// prepare loads the kernel of a row and allocates its arguments. Closing the device releases everything.
func prepare(dev device.Device, s *Set, r *Row) (*contract, error) {
	text, err := s.ptx(r)
	if err != nil {
		return nil, err
	}
	m, err := dev.LoadModule(r.PTX, text)
	if err != nil {
		return nil, err
	}
	fn, err := dev.Function(m, r.Entry)
	if err != nil {
		return nil, err
	}
	c := &contract{dev: dev}
	if c.stream, err = dev.CreateStream(0); err != nil {
		return nil, err
	}
	var values [][]byte
	for _, a := range r.Args {
		v, err := c.argument(a)
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", a, err)
		}
		values = append(values, v)
	}
	for k := range c.launch {
		if k == 1 && len(values) > 1 {
			values[0], values[1] = values[1], values[0]
		}
		c.launch[k] = &device.Launch{Function: fn, Grid: r.Grid, Block: r.Block, Shared: r.Shared, Params: pack(values)}
	}
	return c, nil
}

// argument returns the bytes of an argument. A buffer is allocated and filled, and its bytes are its address. On a GPU
// new memory has any contents, so zeros are written there; the simulated GPU has zeros already, and no host memory for
// bytes that nothing accesses.
func (c *contract) argument(a Argument) ([]byte, error) {
	if a.scalar != nil {
		return a.scalar, nil
	}
	p, err := c.dev.Alloc(a.bytes)
	if err != nil {
		return nil, err
	}
	switch {
	case a.fill != nil:
		data := make([]byte, a.bytes)
		a.fill(data, uint64(p))
		err = c.dev.Write(p, data)
	case !c.dev.Info().Simulated:
		err = c.clear(p, a.bytes)
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(p)), err
}

// clear sets memory to zero and waits.
func (c *contract) clear(p device.Ptr, bytes int64) error {
	w := &device.Memset{Dst: p, Width: 4, Count: bytes / 4}
	if bytes%4 != 0 {
		w.Width, w.Count = 1, bytes
	}
	if err := c.dev.Submit(c.stream, w); err != nil {
		return err
	}
	return c.dev.Synchronize(c.stream)
}

// measure returns the time of a launch in us, as the mode defines it.
func (c *contract) measure(m Mode) (float64, error) {
	switch m.Kind {
	case kindStream, kindPingPong:
		return c.inStream(m.Launches, m.Kind == kindPingPong)
	case kindGraph:
		return c.inGraph(m.Launches)
	case kindHost:
		return c.onHost(m.Launches)
	case kindCold:
		return c.afterFlush()
	case kindSpan, kindColdSpan:
		return c.span(m.cold())
	}
	panic("BUG: unknown mode " + m.Kind)
}

// submit enqueues n launches.
func (c *contract) submit(n int, exchange bool) error {
	for i := range n {
		w := c.launch[0]
		if exchange {
			w = c.launch[i%2]
		}
		if err := c.dev.Submit(c.stream, w); err != nil {
			return err
		}
	}
	return nil
}

// warm runs n launches and waits for them.
func (c *contract) warm(n int, exchange bool) error {
	if err := c.submit(n, exchange); err != nil {
		return err
	}
	return c.dev.Synchronize(c.stream)
}

// between returns the time between two events around the work that enqueue submits, in us.
func (c *contract) between(enqueue func() error) (us float64, err error) {
	var events [2]device.Event
	for i := range events {
		if events[i], err = c.dev.CreateEvent(); err != nil {
			return 0, err
		}
	}
	if err := c.dev.Record(events[0], c.stream); err != nil {
		return 0, err
	}
	if err := enqueue(); err != nil {
		return 0, err
	}
	if err := c.dev.Record(events[1], c.stream); err != nil {
		return 0, err
	}
	if err := c.dev.Synchronize(c.stream); err != nil {
		return 0, err
	}
	took, err := c.dev.Elapsed(events[0], events[1])
	return float64(took) / 1e3, err
}

// inStream times launches back to back, after two that warm L2.
func (c *contract) inStream(n int, exchange bool) (float64, error) {
	if err := c.warm(2, exchange); err != nil {
		return 0, err
	}
	us, err := c.between(func() error { return c.submit(n, exchange) })
	return us / float64(n), err
}

// onHost times launches and the wait for them on the host's clock, after one launch that warms L2.
func (c *contract) onHost(n int) (float64, error) {
	if err := c.warm(1, false); err != nil {
		return 0, err
	}
	begin := c.dev.Now()
	if err := c.warm(n, false); err != nil {
		return 0, err
	}
	return float64(c.dev.Now()-begin) / 1e3 / float64(n), nil
}

// inGraph times the second run of a graph, a chain of n kernels of which every second exchanges the first two
// arguments.
func (c *contract) inGraph(n int) (float64, error) {
	g, err := c.dev.CreateGraph()
	if err != nil {
		return 0, err
	}
	var after []device.Node
	for i := range n {
		node, err := c.dev.AddNode(g, after, c.launch[i%2])
		if err != nil {
			return 0, err
		}
		after = []device.Node{node}
	}
	x, err := c.dev.Instantiate(g)
	if err != nil {
		return 0, err
	}
	run := func() error { return c.dev.LaunchGraph(x, c.stream) }
	if err := run(); err != nil {
		return 0, err
	}
	if err := c.dev.Synchronize(c.stream); err != nil {
		return 0, err
	}
	us, err := c.between(run)
	return us / float64(n), err
}

// afterFlush times one launch whose code is loaded and whose data is not in L2.
func (c *contract) afterFlush() (float64, error) {
	if err := c.submit(1, false); err != nil {
		return 0, err
	}
	if err := c.flush(); err != nil {
		return 0, err
	}
	return c.between(func() error { return c.submit(1, false) })
}

// flush fills L2 with other data, of twice its size. The buffer stays allocated: what is written of it has yet to
// reach DRAM when the kernel runs, as on a GPU.
func (c *contract) flush() (err error) {
	bytes := 2 * c.dev.Info().L2Bytes
	if c.other == 0 {
		if c.other, err = c.dev.Alloc(bytes); err != nil {
			return err
		}
	}
	return c.clear(c.other, bytes)
}
