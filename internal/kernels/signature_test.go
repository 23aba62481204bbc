package kernels

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/ir"
)

// requireSignature checks the table's row for a kernel against its source and its
// PTX.
func requireSignature(t *testing.T, name string) {
	t.Helper()
	k, ok := Lookup(name)
	require.True(t, ok)
	requireSourceSignature(t, k)
	requireEntry(t, k)
}

var declaration = regexp.MustCompile(`(?s)extern "C" __global__ void (?:__launch_bounds__\(\d+\) )?\w+\((.*?)\)`)

// requireSourceSignature compares names, types and const with the .cu file.
func requireSourceSignature(t *testing.T, k *Kernel) {
	t.Helper()
	m := declaration.FindStringSubmatch(read(t, k.Name+".cu"))
	require.NotNil(t, m)
	var declared, claimed []string
	for _, param := range strings.Split(m[1], ",") {
		declared = append(declared, strings.Join(strings.Fields(param), " "))
	}
	for _, p := range k.Params {
		claimed = append(claimed, cDeclaration(p))
	}
	assert.Equal(t, declared, claimed, "parameters of %s: source, then table", k.Name)
}

// cDeclaration is how CUDA source declares a parameter.
func cDeclaration(p Param) string {
	c := map[ir.Type]string{ir.F32: "float", ir.F64: "double", ir.I32: "int"}[p.Type]
	switch {
	case p.Pointer && p.Mode == ir.Read:
		return "const " + c + " *" + p.Name
	case p.Pointer:
		return c + " *" + p.Name
	}
	return c + " " + p.Name
}

// requireEntry checks that the PTX holds one kernel, of that name, with these
// parameters. PTX has pointers as plain 64-bit integers.
func requireEntry(t *testing.T, k *Kernel) {
	t.Helper()
	module, err := ptx.Parse(k.File, k.PTX)
	require.NoError(t, err)
	require.Len(t, module.Funcs, 1)
	entry := module.Funcs[0]
	assert.True(t, entry.Entry)
	assert.Equal(t, k.Name, entry.Name)

	var compiled, claimed []ptx.Type
	for _, v := range entry.Params {
		compiled = append(compiled, v.Type)
	}
	for _, p := range k.Params {
		claimed = append(claimed, ptxType(p))
	}
	assert.Equal(t, compiled, claimed, "parameters of %s: PTX, then table", k.Name)
	requireAccesses(t, k, access.Infer(module, entry))
}

// requireAccesses checks that inference finds, without any declaration, exactly
// the accesses of the table: a pointer too many as unknown or as written costs a
// replay concurrency and fails nothing else.
func requireAccesses(t *testing.T, k *Kernel, effects *access.Effects) {
	t.Helper()
	assert.Nil(t, effects.Opaque, "%s touches memory that no parameter leads to", k.Name)
	assert.Empty(t, effects.Symbols, k.Name)
	inferred, claimed := make([]access.Access, len(k.Params)), make([]access.Access, len(k.Params))
	for _, p := range effects.Params {
		inferred[p.Param] = p.Access
	}
	for i, p := range k.Params {
		if p.Pointer {
			claimed[i] = accesses[p.Mode]
		}
	}
	assert.Equal(t, claimed, inferred, "accesses of %s: table, then inference", k.Name)
}

// accesses is what PTX shows of a mode: a reduction is atomics, and those read.
var accesses = map[ir.Mode]access.Access{
	ir.Read: access.Read, ir.Write: access.Write,
	ir.ReadWrite: access.ReadWrite, ir.Reduce: access.ReadWrite,
}

func ptxType(p Param) ptx.Type {
	if p.Pointer {
		return ptx.U64
	}
	return map[ir.Type]ptx.Type{ir.F32: ptx.F32, ir.F64: ptx.F64, ir.I32: ptx.U32}[p.Type]
}
