package compare

// progress counts replays over all rounds and settings.
type progress struct {
	tell        func(what string, done, total int)
	before, now int // replays of finished parts and of the present one
	each, total int // replays of a row and of the whole run
}

func newProgress(c *Config, settings int) *progress {
	rows := settings * (len(c.Strategies)*len(c.Backends) + len(versions))
	for _, s := range c.settings() {
		if burst, options := c.burst(s); burst > 0 {
			rows += len(options) * (len(c.Strategies) - 1)
		}
	}
	return &progress{tell: c.Progress, each: c.Iterations, total: c.Rounds * rows * c.Iterations}
}

// replays reports the progress of a part, which counts from 1 to its own total.
func (p *progress) replays(what string, done, total int) {
	p.now = done
	p.report(what)
	if done == total {
		p.before, p.now = p.before+total, 0
	}
}

// row reports a whole row at once.
func (p *progress) row(what string) {
	p.before += p.each
	p.report(what)
}

func (p *progress) report(what string) {
	if p.tell != nil {
		p.tell(what, min(p.before+p.now, p.total), p.total)
	}
}
