package programs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/tracer"
)

// Kind is a program without its extents.
type Kind struct {
	Name string
	Doc  string // one line
	// Tiny is the text of extents for tests, which no block divides.
	Tiny string

	extents []extent
	record  func(t *tracer.Tracer, extents []int) *Instance
	// elements is the number of elements of the largest array, which 32-bit indices count.
	elements func(extents []int) float64
}

// extent is one number of a program's size.
type extent struct {
	name  string
	usual int // if it is left out; 0: the first extent
	least int
	even  bool
}

// maxExtent is the greatest extent along the y axis of a grid of 65535 blocks with 4 threads.
const maxExtent = 4 * 65535

// Kinds lists the programs.
func Kinds() []*Kind { return []*Kind{wave, nbody, rsim, jacobi, matmul} }

// Size describes the extents: "ROWSxCOLS, 512x512 if left out".
func (k *Kind) Size() string {
	var names []string
	for _, e := range k.extents {
		names = append(names, strings.ToUpper(e.name))
	}
	return fmt.Sprintf("%s, %s if left out", strings.Join(names, "x"), k.text(k.usual(nil)))
}

// usual completes a list of extents.
func (k *Kind) usual(given []int) []int {
	list := slices.Clone(given)
	for _, e := range k.extents[len(list):] {
		if e.usual == 0 {
			e.usual = list[0]
		}
		list = append(list, e.usual)
	}
	return list
}

func (k *Kind) text(extents []int) string {
	text := make([]string, len(extents))
	for i, n := range extents {
		text[i] = strconv.Itoa(n)
	}
	return strings.Join(text, "x")
}

// Program is a program of some size.
type Program struct {
	Kind    *Kind
	Extents []int // all of them
}

// Parse reads a program: its name, and a colon and extents, such as wave:512 or wave:512x256. Extents at the end may be
// left out.
func Parse(text string) (*Program, error) {
	name, size, sized := strings.Cut(text, ":")
	k, err := lookup(name)
	if err != nil {
		return nil, err
	}
	var given []int
	if sized {
		if given, err = k.parse(size); err != nil {
			return nil, fmt.Errorf("program %s: %w", text, err)
		}
	}
	p := &Program{k, k.usual(given)}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("program %s: %w", text, err)
	}
	return p, nil
}

func lookup(name string) (*Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("unknown program %q%s; there are %s", name, phrase.DidYouMean(name, names), strings.Join(names, ", "))
}

// parse reads the extents that are given.
func (k *Kind) parse(size string) ([]int, error) {
	var list []int
	for _, text := range strings.Split(size, "x") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number: write %s:%s", text, k.Name, k.text(k.usual(nil)))
		}
		list = append(list, n)
	}
	if len(list) > len(k.extents) {
		return nil, fmt.Errorf("%d extents, but the size is %s", len(list), k.Size())
	}
	return list, nil
}

func (p *Program) check() error {
	for i, e := range p.Kind.extents {
		if n := p.Extents[i]; n < e.least || n > maxExtent {
			return fmt.Errorf("%s is %d: use %d to %d", e.name, n, e.least, maxExtent)
		}
		if n := p.Extents[i]; e.even && n%2 > 0 {
			return fmt.Errorf("%s is %d: use an even number, after which the buffers have their roles back", e.name, n)
		}
	}
	if n := p.Kind.elements(p.Extents); n > math.MaxInt32 {
		return fmt.Errorf("an array has %.0f elements, and the kernels index 2^31-1 at most: use smaller extents", n)
	}
	return nil
}

// String returns the program with all extents, for Parse.
func (p *Program) String() string { return p.Kind.Name + ":" + p.Kind.text(p.Extents) }

// Record records one replay of the program. The caller finishes the trace, which reports errors.
func (p *Program) Record(t *tracer.Tracer) *Instance { return p.Kind.record(t, p.Extents) }
