// Package devices opens a device by its id: "sim:h200" simulates the GPU of that profile, "sim:FILE.json" that of a
// profile file, "sim" the default one, and "gpu0" is the first GPU of the CUDA driver.
package devices

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Default is the id of the device that is used where none is given.
const Default = "sim:h200"

// IDError is the error of an id that names no device.
type IDError struct{ error }

// Unwrap returns the error that says what is known.
func (e IDError) Unwrap() error { return e.error }

// Ordinal returns the number in the id of a GPU: 0 for "gpu0".
func Ordinal(id string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(id, "gpu")
	if !ok {
		return 0, false
	}
	u, err := strconv.ParseUint(digits, 10, 16)
	return int(u), err == nil
}

// Open opens the device of an id. The options are for a simulated device, whose profile they get.
func Open(id string, o sim.Options) (device.Device, error) {
	if n, ok := Ordinal(id); ok {
		return openGPU(n)
	}
	p, err := Profile(id)
	if err != nil {
		return nil, err
	}
	o.Custom = p
	return sim.New(o)
}

// OpenRank opens the simulated devices of a rank of a machine. They share one clock and are peers where the machine has
// links. The options are for all of them; profiles and memory are those of the machine.
func OpenRank(m *machine.Machine, rank int, o sim.Options) ([]device.Device, error) {
	if rank < 0 || rank >= len(m.Ranks) {
		return nil, fmt.Errorf("rank %d of machine %s, which has ranks 0 to %d", rank, m.ID, len(m.Ranks)-1)
	}
	opened, err := sim.OpenRank(&m.Ranks[rank], o)
	if err != nil {
		return nil, err
	}
	list := make([]device.Device, len(opened))
	for i, d := range opened {
		list[i] = d
	}
	return list, nil
}

// Profile returns the profile of a simulated device.
func Profile(id string) (*model.Profile, error) {
	kind, name, _ := strings.Cut(id, ":")
	if _, gpu := Ordinal(id); gpu {
		return nil, IDError{sentinel.Errorf(sentinel.ErrUnsupported, "%s is a GPU, and this needs a simulated one: use %s, or another that reprise devices lists", id, Default)}
	}
	if kind != "sim" {
		return nil, IDError{sentinel.Errorf(sentinel.ErrUnknown, "unknown device %q: use %s, gpu0 for the first GPU, or another that reprise devices lists", id, Default)}
	}
	if name == "" {
		name = strings.TrimPrefix(Default, "sim:")
	}
	f, err := File(name)
	if err != nil {
		return nil, err
	}
	return &f.Profile, nil
}

// File returns the profile file of a path that ends in .json, or one with the profile of that name.
func File(name string) (*profiles.File, error) {
	f, err := profiles.LookupFile(name)
	if err != nil && !strings.HasSuffix(name, ".json") {
		err = IDError{err}
	}
	return f, err
}
