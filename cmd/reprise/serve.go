package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/report"
	"github.com/reprise-gpu/reprise/internal/viewer"
	"github.com/reprise-gpu/reprise/ir"
)

func newServe() *cobra.Command {
	var f reportFlags
	var port uint16
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show reports of programs in a browser of this machine",
		Long: fmt.Sprintf(`Serve answers a browser of this machine with a page to choose a workload or a file, and
with the report of what is chosen. It listens on 127.0.0.1 alone, and answers requests of
its own pages only. A file has at most %d MiB; its program runs on the simulated device.
The latest 16 reports are kept in memory. SIGINT or SIGTERM ends it, with status 0.`, viewer.MaxUpload>>20),
		Example: `  reprise serve
  reprise serve --port 8080 --strategy all --device sim:a100`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.serve(c, port) },
	}
	f.add(c)
	c.Flags().Uint16Var(&port, "port", 0, "port to listen on (default any that is free)")
	return c
}

func (f *reportFlags) serve(c *cobra.Command, port uint16) error {
	f.data.memory, f.data.seed = "pinned", 1
	if _, err := lookupProfile(f.device); err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return fmt.Errorf("cannot listen: %w: choose another --port", err)
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	fmt.Fprintf(c.OutOrStdout(), "open http://%v in a browser\n", l.Addr())
	return viewer.New(&reportSource{f, o}, l.Addr()).Serve(ctx, l)
}

// reportSource makes the pages of serve.
type reportSource struct {
	flags   *reportFlags
	options report.Options
}

// Names implements viewer.Source, as do the following methods.
func (s *reportSource) Names() (names []string) {
	for _, w := range bench.Workloads() {
		names = append(names, w.Name)
	}
	return names
}

// Program returns the page of a workload at its smallest size.
func (s *reportSource) Program(ctx context.Context, name string) ([]byte, error) {
	w, err := bench.LookupWorkload(name)
	if err != nil {
		return nil, err
	}
	return s.page(ctx, w)
}

// File returns the page of a saved program.
func (s *reportSource) File(ctx context.Context, name, text string) ([]byte, error) {
	file, err := ir.Load(name, text)
	if err != nil {
		return nil, err
	}
	if err := checkModules(file.Graph); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s.page(ctx, bench.OfFile(name, file))
}

func (s *reportSource) page(ctx context.Context, w *bench.Workload) ([]byte, error) {
	params, err := paramsOf(w, 0, &s.flags.data, s.flags.sample, "")
	if err != nil {
		return nil, err
	}
	d, err := s.flags.collect(ctx, tenants.OfWorkload(w, params), s.options)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = d.WritePage(&page)
	return page.Bytes(), err
}
