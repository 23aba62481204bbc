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

// task is a task with its work and its predecessors.
type task struct {
	work  float64
	after []int
}

// task adds a task and returns its number.
func (p *plot) task(work float64, after ...int) int {
	p.tasks = append(p.tasks, task{work, after})
	return len(p.tasks) - 1
}

// drawn adds a task with random work, log-normally distributed around 1: half of all tasks have work from 1/2 to 2,
// and a few ten times as much, which resembles run times of programs.
func (p *plot) drawn(after ...int) int {
	return p.task(math.Exp(p.random.NormFloat64()), after...)
}

// several adds n tasks with the same predecessors.
func (p *plot) several(n int, after ...int) []int {
	tasks := make([]int, n)
	for i := range tasks {
		tasks[i] = p.drawn(after...)
	}
	return tasks
}

// between returns a random number from lo to hi.
func (p *plot) between(lo, hi int) int { return lo + p.random.IntN(hi-lo+1) }

// some returns a random subset that contains each element with the given probability, and at least one element.
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
