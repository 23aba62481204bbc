package sim

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// CountLaunches calls run and returns the demand of each launch enqueued by it, in order of enqueuing. The device
// must be idle before, and run must wait for its work. A time line being recorded does not contain the work of run.
func (d *Device) CountLaunches(run func() error) ([]model.Demand, error) {
	if run == nil {
		return nil, unset("CountLaunches", "the function that launches")
	}
	kept := d.history
	defer func() { d.history = kept }()
	d.history = history{on: true, from: d.host, first: d.engine.Next(), last: des.NoTask}
	if err := run(); err != nil {
		return nil, err
	}
	var demands []model.Demand
	for i := range d.history.tasks {
		if l := d.history.tasks[i].launched; l != nil {
			demands = append(demands, l.Demand)
		}
	}
	return demands, nil
}
