package rewrite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
)

// rewritten are the rewrites of one kernel whose text depends on nothing but the kernel.
type rewritten struct {
	name   string
	result *Result
	err    error
	parts  int
}

// rewrites applies each rewrite once.
func (k corpusKernel) rewrites() (list []rewritten) {
	add := func(name string, parts int, r *Result, err error) {
		list = append(list, rewritten{name, r, err, parts})
	}
	for dims := 1; dims <= 3; dims += 2 {
		r, err := Range(k.module, k.kernel.Name, dims)
		add("range", 1, r, err)
	}
	grid := [3]uint32{4, 3, 1}
	for source := FromParameters; source <= FromRows; source++ {
		r, err := Batch(k.module, k.kernel.Name, BatchOptions{Source: source, Grid: grid, Instances: 3})
		add(source.name(), 3, r, err)
	}
	r, err := Batch(k.module, k.kernel.Name, BatchOptions{Grids: [][3]uint32{grid, {2, 2, 5}}, Instances: 2})
	add(FromParameters.name(), 2, r, err)
	r, err = Batch(k.module, k.kernel.Name, BatchOptions{Source: FromTable, Grids: [][3]uint32{grid, {2, 2, 5}}, Instances: 2})
	add(FromTable.name(), 2, r, err)
	block := [3]uint32{96, 1, 1}
	if k.kernel.ReqThreads[0] > 0 {
		block = k.kernel.ReqThreads
	}
	r, err = Fuse([]Part{{k.module, k.kernel.Name, grid, block, 64}, {other, "other", [3]uint32{5, 1, 1}, [3]uint32{16, 8, 1}, 0}})
	add("fuse", 2, r, err)
	return list
}

func (s Source) name() string {
	return [...]string{"batch (parameters)", "batch (table)", "batch (rows)"}[s]
}

// other is the module of a kernel that is fused with those of the corpus.
var other = func() *ptx.Module {
	m, err := ptx.Parse("other.ptx", `.version 6.0
.target sm_52
.address_size 64
.visible .entry other(.param .u64 x)
{
	.reg .b32 %r<3>; .reg .b64 %rd<3>;
	.shared .align 8 .b8 tile[80];
	ld.param.u64 %rd1, [x];
	mov.u32 %r1, %tid.y;
	st.shared.u32 [tile+76], %r1;
	bar.sync 0;
	ld.shared.u32 %r2, [tile+76];
	cvta.to.global.u64 %rd2, %rd1;
	st.global.u32 [%rd2], %r2;
	ret;
}
`)
	if err != nil {
		panic(err)
	}
	return m
}()

// refusalTable lists the refusals of the corpus, one a line: rewrite, kernel, reason.
const refusalTable = "testdata/refusals"

// TestRefusals applies every rewrite to every kernel. Each is a kernel that parses, or a refusal
// whose reason is in the table. "go test -run TestRefusals -rewrite" writes the table.
func TestRefusals(t *testing.T) {
	text, err := os.ReadFile(refusalTable)
	require.NoError(t, err)
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, reason, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[key] = reason
	}
	var lines []string
	kernels := corpus(t)
	for _, k := range kernels {
		refused := map[string]string{}
		for _, r := range k.rewrites() {
			if r.err == nil {
				checkAccesses(t, k, r)
				continue
			}
			refusal := (*Refusal)(nil)
			require.True(t, errors.As(r.err, &refusal), "%s %s: %v", r.name, k, r.err)
			refused[fmt.Sprintf("%s %s", r.name, k)] = refusal.Reason
		}
		for key, reason := range refused {
			lines = append(lines, key+": "+reason+"\n")
			if !rewriting() {
				assert.Equal(t, want[key], reason, "%s", key)
			}
		}
	}
	t.Logf("%d kernels, %d refusals", len(kernels), len(lines))
	if testing.Short() {
		return
	}
	slices.Sort(lines)
	if rewriting() {
		require.NoError(t, os.WriteFile(refusalTable, []byte(strings.Join(lines, "")), 0o666))
		return
	}
	require.Len(t, lines, len(want), "the table has kernels that are no longer refused")
}

// rewriting reports whether the test was called with -rewrite, a flag of package datadriven.
func rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// checkAccesses compares what the rewritten kernel does through each parameter with what the
// original does through the parameter that it stems from. With parameters as the source they are
// equal. Pointers from a table are followed nowhere, so the kernel must be opaque.
func checkAccesses(t *testing.T, k corpusKernel, r rewritten) {
	before := access.Infer(k.module, k.kernel)
	after := access.Infer(r.result.Module, r.result.Module.Func(r.result.Kernel))
	if r.result.Table != nil {
		for _, f := range r.result.Table.Fields {
			if through(before, f.Param) != access.None && after.Opaque == nil {
				t.Errorf("%s of %s: the kernel follows pointers of a table and is not opaque", r.name, k)
			}
		}
		return
	}
	assert.Equal(t, before.Opaque == nil, after.Opaque == nil, "%s of %s is opaque: %v, %v", r.name, k, before.Opaque, after.Opaque)
	for i, o := range r.result.Params {
		if o.Kind != Argument || r.name == "fuse" && o.Part == 1 {
			assert.Equal(t, o.Kind != Argument, through(after, i) == access.None, "%s of %s: parameter %d", r.name, k, i)
			continue
		}
		assert.Equal(t, through(before, o.Param), through(after, i), "%s of %s: parameter %d", r.name, k, o.Param)
	}
}

// through returns the access through a parameter, as a pointer or as a number.
func through(e *access.Effects, param int) (a access.Access) {
	for _, p := range e.Params {
		if p.Param == param {
			a = a.Or(p.Access).Or(p.Offset)
		}
	}
	return a
}
