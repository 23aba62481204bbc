package cluster

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/devices"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// openDevices opens the devices of a rank: simulated ones with the links of the machine, or GPUs.
func openDevices(m *machine.Machine, rank int, on Devices) (list []device.Device, err error) {
	if on != GPUs {
		return devices.OpenRank(m, rank, sim.Options{})
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(list))
		}
	}()
	first := 0 // number of the rank's first GPU on its node
	for r := range rank {
		if m.Ranks[r].Node == m.Ranks[rank].Node {
			first += len(m.Ranks[r].Devices)
		}
	}
	for i := range m.Ranks[rank].Devices {
		d, err := devices.Open(fmt.Sprintf("gpu%d", first+i), sim.Options{})
		if err != nil {
			return list, fmt.Errorf("rank %d, device %d: %w", rank, i, err)
		}
		list = append(list, d)
	}
	return list, nil
}

func closeAll(list []device.Device) (err error) {
	for _, d := range list {
		err = errors.Join(err, d.Close())
	}
	return err
}
