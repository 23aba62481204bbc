package taskgraph

import (
	"fmt"
	"math/rand/v2"
)

// Family is a set of task graphs of one shape.
type Family struct {
	Name, Doc string
	plot      func(p *plot, k int) // the number of tasks grows with k, which starts at 1
}

// Families returns all families, in a suitable order for readers.
func Families() []Family { return families }

var families = []Family{
	{"parallel", "tasks that share nothing", func(p *plot, k int) { p.several(k) }},
	{"chain", "each task after the one before", chain},
	{"outtree", "each task leads to two", outTree},
	{"intree", "each task joins two, as reductions do", inTree},
	{"forkjoin", "forks of 2 to 16 tasks, each joined before the next", forkJoin},
	{"seriesparallel", "two such graphs in series or side by side, down to one task (Valdes, Tarjan and Lawler, SIAM J. Comput. 1982)", seriesParallel},
	{"layered", "layers of 1 to 16 tasks, and edges from layer to layer at random (layrprob of Tobita and Kasahara, J. Scheduling 2002)", layered},
	{"random", "an edge between any two tasks with the same probability, three for each task (sameprob of the same)", random},
	{"wavefront", "a square of tiles, each after its neighbours above and to the left", wavefront},
	{"stencil", "steps over tiles in a row, each after itself and its neighbours in the step before", stencil},
	{"cholesky", "tiled Cholesky factorization (Buttari et al., Parallel Computing 2009)", cholesky},
	{"lu", "tiled LU factorization without pivoting (the same)", lu},
	{"qr", "tiled QR factorization (the same)", qr},
	{"gauss", "Gaussian elimination by columns (Cosnard et al., Parallel Computing 1988)", gauss},
	{"fft", "recursive calls and the butterflies behind them (Topcuoglu, Hariri and Wu, IEEE TPDS 2002)", fft},
	{"strassen", "Strassen's product of matrices, each product by the same method", strassen},
	{"training", "a network there and back, a gradient for each layer's weights", training},
	{"attention", "transformer layers of 8 heads (Vaswani et al., NeurIPS 2017)", attention},
	{"montage", "a mosaic of images of the sky (Bharathi et al., WORKS 2008)", montage},
	{"cybershake", "earthquake hazards from two strain tensors (the same)", cyberShake},
	{"epigenomics", "pipelines over the parts of a genome (the same)", epigenomics},
	{"inspiral", "two rounds of matching waveforms, joined in groups (the same)", inspiral},
}

// Graph is a member of a family.
type Graph struct {
	Name  string
	tasks []task
}

// Draw returns a graph of the family with at least the given number of tasks, if there is one, and not many more. The
// same seed gives the same graph.
func (f *Family) Draw(tasks int, seed uint64) *Graph {
	for k := 1; ; k += 1 + k/16 {
		p := &plot{random: rand.New(rand.NewPCG(seed, uint64(k)))}
		f.plot(p, k)
		if len(p.tasks) >= tasks {
			return &Graph{fmt.Sprintf("%s-%d", f.Name, len(p.tasks)), p.tasks}
		}
	}
}

// Len returns the number of tasks.
func (g *Graph) Len() int { return len(g.tasks) }
