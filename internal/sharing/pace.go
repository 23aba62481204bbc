package sharing

import "time"

// pace is how boldly others may use the gaps of a program. It follows the delay that they cause: each stage that
// pushes the delay above its target lowers it by a factor, each other one raises it by a small step.
type pace struct {
	alpha float64 // the quantile of gaps that is expected
	piece float64 // the time of a piece, as a fraction of the greatest
	// price is the expected delay of this program, as a fraction of the work that others do meanwhile, at which they may run
	// a unit that does not fit. All units that cost less together are the most work for a given delay, so it is what the
	// target leaves when the quantile has reached its maximum, and the first that a delay above the target lowers.
	price float64
	late  float64 // moving sum of delays
	alone float64 // moving sum of the times alone

	// saved is the delay that the target allows and the program has not suffered. expected is the delay by units longer
	// than a piece that run in the present gap. The others are sums since saved was computed.
	saved, expected   time.Duration
	newLate, newAlone time.Duration
}

const (
	maxAlpha  = 0.5
	minAlpha  = 0.01
	minPiece  = 0.05
	priceStep = 0.05
	paceDecay = 0.95 // of the moving sums, per stage: they remember some 20 stages
)

func (p *pace) reset() { *p = pace{alpha: 0.25, piece: 1} }

// observe adds the delay of a stage that takes a time alone.
func (p *pace) observe(late, alone time.Duration) {
	p.late = p.late*paceDecay + float64(late)
	p.alone = p.alone*paceDecay + float64(alone)
	p.newLate += late
	p.newAlone += alone
}

// affords reports whether the program may suffer a delay.
func (p *pace) affords(d time.Duration) bool { return d <= p.saved-p.expected }

// follow adapts the pace to a target for the delay as a fraction of the time alone. At most limit is saved, or owed.
func (p *pace) follow(target float64, limit time.Duration) {
	p.saved = min(limit, max(-limit, p.saved+time.Duration(target*float64(p.newAlone))-p.newLate))
	p.expected, p.newLate, p.newAlone = 0, 0, 0
	if p.over(target) && p.price > 0 {
		if p.price *= 0.8; p.price < priceStep {
			p.price = 0
		}
		return
	}
	if p.over(target) {
		p.alpha = max(minAlpha, p.alpha*0.8)
		p.piece = max(minPiece, p.piece*0.9)
		return
	}
	if p.late < 0.9*target*p.alone {
		if p.alpha == maxAlpha && p.piece == 1 {
			p.price = min(1, p.price+priceStep)
		}
		p.alpha = min(maxAlpha, p.alpha+0.015)
		p.piece = min(1, p.piece*1.05)
	}
}

// over reports whether the recent delay is above a target.
func (p *pace) over(target float64) bool { return p.late > target*p.alone }
