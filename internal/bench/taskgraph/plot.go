package taskgraph

import (
	"math"
	"math/rand/v2"
)

// plot is a task graph under construction.
type plot struct {
	random *rand.Rand
	tasks  []task
}

// task is a unit of work of that size, after others.
type task struct {
	work  float64
	after []int
}

// task adds one.
func (p *plot) task(work float64, after ...int) int {
	p.tasks = append(p.tasks, task{work, after})
	return len(p.tasks) - 1
}

// drawn adds a task of about unit work: half of all take between a half and two, and a few ten
// times as long, as run times do.
func (p *plot) drawn(after ...int) int {
	return p.task(math.Exp(p.random.NormFloat64()), after...)
}

// several adds so many tasks after the same ones.
func (p *plot) several(n int, after ...int) []int {
	tasks := make([]int, n)
	for i := range tasks {
		tasks[i] = p.drawn(after...)
	}
	return tasks
}

// between is a number from lo to hi.
func (p *plot) between(lo, hi int) int { return lo + p.random.IntN(hi-lo+1) }

// some keeps each with that probability, and one at least.
func (p *plot) some(of []int, probability float64) []int {
	var kept []int
	for _, t := range of {
		if p.random.Float64() < probability {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		kept = append(kept, of[p.random.IntN(len(of))])
	}
	return kept
}
