package sparse

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// generators lists the kinds of matrices of Generate.
var generators = []struct {
	name, args, doc string
	numbers         []number
	entries         func(n []float64) float64 // upper bound
	make            func(n []float64) *CSR
}{
	{
		"poisson2d", "N", "the 5-point Laplacian on N x N points",
		[]number{{least: 1}},
		func(n []float64) float64 { return 5 * n[0] * n[0] },
		func(n []float64) *CSR { return poisson2D(int(n[0])) },
	},
	{
		"poisson3d", "N", "the 7-point Laplacian on N x N x N points",
		[]number{{least: 1}},
		func(n []float64) float64 { return 7 * n[0] * n[0] * n[0] },
		func(n []float64) *CSR { return poisson3D(int(n[0])) },
	},
	{
		"convection", "N[,V]", "convection and diffusion on N x N points, with wind speed V (1)",
		[]number{{least: 1}, {usual: 1, real: true}},
		func(n []float64) float64 { return 5 * n[0] * n[0] },
		func(n []float64) *CSR { return ConvectionDiffusion(int(n[0]), n[1]) },
	},
	{
		"spd", "N[,K[,SEED]]", "random, symmetric positive definite, with K (8) elements per row beside the diagonal",
		[]number{{least: 1}, {usual: 8}, {usual: 1}},
		func(n []float64) float64 { return n[0] * (n[1] + 1) },
		func(n []float64) *CSR { return randomSPD(int(n[0]), int(n[1]), uint64(n[2])) },
	},
	{
		"links", "N[,K[,SEED]]", "a random graph for pagerank and hits: N pages with K (8) links each; some have none",
		[]number{{least: 1}, {usual: 8}, {usual: 1}},
		func(n []float64) float64 { return n[0] * n[1] },
		func(n []float64) *CSR { return randomLinks(int(n[0]), int(n[1]), uint64(n[2])) },
	},
}

// number describes an argument of a generator.
type number struct {
	least, usual float64
	real         bool
}

// Generators describes the specifications for Generate, one line per kind.
func Generators() string {
	var b strings.Builder
	for _, g := range generators {
		fmt.Fprintf(&b, "  %-22s %s\n", g.name+":"+g.args, g.doc)
	}
	return b.String()
}

// Generate returns the matrix of a specification such as "poisson2d:512". The kinds are poisson2d, poisson3d, convection,
// spd and links; Generators describes their arguments.
func Generate(spec string) (*CSR, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	for _, g := range generators {
		if g.name != kind {
			continue
		}
		form := g.name + ":" + g.args
		words := strings.Split(rest, ",")
		if len(words) > len(g.numbers) {
			return nil, fmt.Errorf("%s: too many numbers: it is %s", spec, form)
		}
		values := make([]float64, len(g.numbers))
		for i, n := range g.numbers {
			values[i] = n.usual
			if i >= len(words) {
				continue
			}
			v, err := n.parse(words[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w: it is %s", spec, err, form)
			}
			values[i] = v
		}
		if most := g.entries(values); most > math.MaxInt32 {
			return nil, fmt.Errorf("%s has up to %.3g entries: a matrix holds at most %d", spec, most, math.MaxInt32)
		}
		return g.make(values), nil
	}
	return nil, fmt.Errorf("unknown matrix %q: it is the name of a Matrix Market file, or one of\n%s", spec, Generators())
}

func (n *number) parse(word string) (float64, error) {
	if n.real {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || !(v >= n.least) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("%q is no number from %g", word, n.least)
		}
		return v, nil
	}
	v, err := strconv.ParseUint(word, 10, 31)
	if err != nil || float64(v) < n.least {
		return 0, fmt.Errorf("%q is no whole number from %g", word, n.least)
	}
	return float64(v), nil
}
