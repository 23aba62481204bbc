package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/cluster"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/tracer"
)

// savedRank is a saved program on one rank of a machine.
type savedRank struct {
	*runnable
	trace  *tracer.Trace
	result *[]output // of rank 0
}

func (s *savedRank) String() string { return s.name }

func (s *savedRank) checked() bool { return false }

// record returns the trace of the program on a device that runs nothing: the plan has the memory.
func (s *savedRank) record(*cluster.Rank) (_ *tracer.Trace, err error) {
	s.trace, err = s.load(null.New())
	return s.trace, err
}

func (s *savedRank) start(write func(b tracer.Buffer, data []byte) error) error {
	return s.runnable.start(s.trace, write)
}

func (s *savedRank) finish(rank, _ int, read func(data []byte, b tracer.Buffer) error) (float64, error) {
	outs, err := s.read(s.trace, read)
	if rank == 0 {
		*s.result = outs
	}
	return 0, err
}

// onMachine runs a saved program or a workload on the devices of a machine.
func (f *programFlags) onMachine(c *cobra.Command, arg string) error {
	r, err := f.runnable(c, arg, defaultDevice)
	if err != nil {
		return err
	}
	r.note(c.ErrOrStderr())
	g := *r.file.Graph
	g.Params = slices.Clone(g.Params)
	for i := range g.Params {
		for _, p := range r.set {
			if p.Name == g.Params[i].Name {
				g.Params[i] = p
			}
		}
	}
	r.file.Graph = &g
	var outs []output
	if err := f.cluster.run(c, func() distributable {
		one := *r
		one.outs = slices.Clone(r.outs)
		return &savedRank{runnable: &one, result: &outs}
	}); err != nil {
		return err
	}
	if err := r.write(outs); err != nil {
		return err
	}
	if f.json == "-" {
		return nil
	}
	return r.print(c.OutOrStdout(), outs)
}
