package scale

// Scheduler is a model of a scheduler that makes the graphs of commands and instructions anew in each step. Its time runs
// beside that of the devices, so a step takes the longer of the two. The costs are those that the authors of Celerity have
// committed for their wave equation benchmark (203 tasks), in us per task, on one machine:
//
//	task and command graphs, for 1, 4 and 16 nodes                       ci/perf of the repository, HEAD 6e22728
//	instruction graph, for 1, 4 and 16 devices of a node (with 2 nodes)  branch revisit-dag-benchmarks
//
// Numbers between these are interpolated, and greater ones extrapolated, by straight lines. The cost of executing the
// instructions is not included.
type Scheduler struct{}

// point is a cost for a number of nodes or devices.
type point struct{ at, us float64 }

var (
	commandGraph     = []point{{1, 4.6}, {4, 10.1}, {16, 23.0}}
	instructionGraph = []point{{1, 18.7}, {4, 65.5}, {16, 249.5}}
)

// TaskUS returns the cost of a task on each of a number of nodes, in us.
func (Scheduler) TaskUS(nodes, devices int) float64 {
	return line(commandGraph, float64(nodes)) + line(instructionGraph, float64(devices))
}

// line returns the value at x of the line through the two points around it, or through the last two.
func line(points []point, x float64) float64 {
	i := 1
	for i < len(points)-1 && points[i].at < x {
		i++
	}
	a, b := points[i-1], points[i]
	return a.us + (b.us-a.us)*(x-a.at)/(b.at-a.at)
}
