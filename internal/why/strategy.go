package why

import "github.com/reprise-gpu/reprise/optimizer"

// Strategy is what a strategy decided for the program.
type Strategy struct {
	Lanes        [][]string `json:"lanes"`        // operations in order
	Waits        int        `json:"waits"`        // between lanes
	Delays       int        `json:"delays"`       // of them, those that no dependency requires
	Unrequired   int        `json:"unrequired"`   // neighbours on lanes that no dependencies order
	Dependencies int        `json:"dependencies"` // that no others imply
	Predicted    float64    `json:"predicted_us"`
	Serial       float64    `json:"serial_us"` // predicted for one lane
	Bound        float64    `json:"bound_us"`  // no plan as a graph is predicted to be quicker
}

// Strategy explains the decisions of the strategy.
func (p *Plan) Strategy() (*Strategy, error) {
	serial := p.opts
	serial.Strategy = "serial"
	r, err := optimizer.Plan(p.result.Analyzed, serial)
	if err != nil {
		return nil, err
	}
	s, c := p.result.Schedule, p.scopes[0]
	return &Strategy{
		Lanes: c.lanesOf(), Waits: s.Syncs(), Delays: delays(s), Unrequired: c.unrequired(),
		Dependencies: len(c.reduced.Deps()), Predicted: us(s.Predicted), Serial: us(r.Schedule.Predicted), Bound: us(p.result.Bound),
	}, nil
}
