package compare

// progress counts replays over all rounds and settings.
type progress struct {
	tell        func(what string, done, total int)
	before, now int // of the parts that ended, and of the one under way
	each, total int // replays of a row, and of everything
}

func newProgress(c *Config, settings int) *progress {
	rows := len(c.Strategies)*len(c.Backends) + len(versions)
	return &progress{tell: c.Progress, each: c.Iterations, total: settings * c.Rounds * rows * c.Iterations}
}

// replays is the progress of a part, which counts from 1 to its own total.
func (p *progress) replays(what string, done, total int) {
	p.now = done
	p.report(what)
	if done == total {
		p.before, p.now = p.before+total, 0
	}
}

// row is a whole row, of which nothing was told meanwhile.
func (p *progress) row(what string) {
	p.before += p.each
	p.report(what)
}

func (p *progress) report(what string) {
	if p.tell != nil {
		p.tell(what, min(p.before+p.now, p.total), p.total)
	}
}
