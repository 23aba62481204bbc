package optimizer

import "github.com/reprise-gpu/reprise/device/model"

// engine is a resource of the device that operations share.
type engine uint8

const (
	multiprocessors engine = iota
	deviceMemory           // bandwidth of the device's memory
	linkIn                 // copies from the host to the device
	linkOut                // copies from the device to the host
	hostThread             // host calls
	engines                // number of engines
)

// footprint is the share of each engine, from 0 to 1, that an operation uses when it runs alone, and the
// engine with the largest share. most is engines if all shares are 0.
type footprint struct {
	share [engines]float64
	most  engine
}

func footprintOf(d model.Demand, took model.Time, p *model.Profile) footprint {
	f := footprint{most: engines}
	switch d.Kind {
	case model.Kernel:
		f.share[multiprocessors] = min(1, d.Blocks/(float64(p.SMs)*d.PerSM))
		f.share[deviceMemory] = bandwidth(d.Bytes, took, p)
	case model.CopyOn:
		f.share[deviceMemory] = bandwidth(d.Bytes, took, p)
	case model.CopyIn:
		f.share[linkIn] = 1
	case model.CopyOut:
		f.share[linkOut] = 1
	case model.Host:
		f.share[hostThread] = 1
	}
	best := 0.0
	for e, share := range f.share {
		if share > best {
			best, f.most = share, engine(e)
		}
	}
	return f
}

// bandwidth returns the share of the device memory's bandwidth that moving bytes in the time took uses, at most 1.
func bandwidth(bytes float64, took model.Time, p *model.Profile) float64 {
	if bytes == 0 {
		return 0
	}
	seconds := float64(took) / float64(model.Second)
	return min(1, bytes/(seconds*p.MemoryGBps*1e9))
}
