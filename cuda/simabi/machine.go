//go:build cuda && cgo

package simabi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// rankVariables are the variables that hold the number of the rank, in order of precedence. The last two are those of Open
// MPI and of launchers with the process management interface, such as MPICH and Slurm.
var rankVariables = []string{"REPRISE_SIM_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}

// plugMachine creates the GPUs and the links of a rank of the machine that $REPRISE_SIM_MACHINE names.
func plugMachine(name string) ([]*gpu, error) {
	m, err := machine.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("REPRISE_SIM_MACHINE=%s: %w", name, err)
	}
	n, err := rankOf(len(m.Ranks))
	if err != nil {
		return nil, err
	}
	r := &m.Ranks[n]
	system, simulated := sim.NewRank(r)
	driver.system = system
	gpus := make([]*gpu, len(simulated))
	for i, g := range simulated {
		gpus[i] = &gpu{slot: i, ordinal: i, profile: r.Devices[i].Profile, memory: r.Devices[i].Memory, sim: g}
	}
	return gpus, nil
}

// rankOf returns the number of this process among the ranks, 0 if no variable has it.
func rankOf(ranks int) (int, error) {
	for _, name := range rankVariables {
		text := getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n >= ranks {
			return 0, fmt.Errorf("%s=%s: the machine has ranks 0 to %d; start as many processes as it has ranks, or name another machine", name, text, ranks-1)
		}
		return n, nil
	}
	return 0, nil
}

// plugList creates the GPUs of a list of profiles, without links.
func plugList(list string) (gpus []*gpu, err error) {
	driver.system = sim.NewSystem()
	for i, id := range strings.Split(list, ",") {
		p, err := profiles.Lookup(strings.TrimSpace(id))
		if err != nil {
			return nil, fmt.Errorf("REPRISE_SIM=%s: %w", list, err)
		}
		gpus = append(gpus, &gpu{slot: i, ordinal: i, profile: p, memory: p.MemoryBytes, sim: driver.system.GPU(p.MemoryBytes)})
	}
	return gpus, nil
}
