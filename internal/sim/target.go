package sim

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// runsOn returns an error if a GPU refuses a module. PTX runs on its target GPU and on all later ones. With the
// suffix a it runs only on the target, with f also on later GPUs of the same generation (PTX ISA, .target).
func runsOn(p *model.Profile, m *ptx.Module) error {
	needs, has := m.TargetNumber(), 10*p.ComputeMajor+p.ComputeMinor
	switch {
	case needs > has:
		return fmt.Errorf("it is for %s, and %s is sm_%d: compile it for compute_%d or an older one", m.Target, p.Name, has, has)
	case strings.HasSuffix(m.Target, "a") && needs != has,
		strings.HasSuffix(m.Target, "f") && needs/10 != has/10:
		return fmt.Errorf("it is for %s, which no later GPU runs, and %s is sm_%d: compile it without the suffix", m.Target, p.Name, has)
	}
	return nil
}
