//go:build cuda && cgo

package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fatbinOf returns PTX in a fatbin for one architecture, in the format that nvcc puts into objects.
func fatbinOf(text string, arch uint32) []byte {
	le := binary.LittleEndian
	const entryHeader = 64
	body := append([]byte(text), make([]byte, 8-len(text)%8)...)
	entry := make([]byte, entryHeader, entryHeader+len(body))
	le.PutUint16(entry, 1)
	le.PutUint32(entry[4:], entryHeader)
	le.PutUint64(entry[8:], uint64(len(body)))
	le.PutUint32(entry[28:], arch)
	entry = append(entry, body...)
	header := le.AppendUint32(nil, 0xba55ed50)
	header = le.AppendUint16(header, 1)
	header = le.AppendUint16(header, 16)
	return append(le.AppendUint64(header, uint64(len(entry))), entry...)
}

// TestLibraryArchive links with an archive of objects with PTX. One of them is not needed, and one contains only host
// code.
func TestLibraryArchive(t *testing.T) {
	if _, err := exec.LookPath("ar"); err != nil {
		t.Skip("needs ar")
	}
	lib, dir := buildLibrary(t), t.TempDir()
	const head = ".version 7.0\n.target sm_52\n.address_size 64\n"
	object := func(name string, fatbins ...[]byte) string {
		source := ".text\n.globl " + name + "\n" + name + ": ret\n.section __nv_relfatbin, \"a\"\n"
		for i, f := range fatbins {
			file := filepath.Join(dir, name+string(rune('0'+i))+".fatbin")
			require.NoError(t, os.WriteFile(file, f, 0o644))
			source += ".balign 8\n.incbin \"" + file + "\"\n"
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path+".s", []byte(source), 0o644))
		out, err := exec.Command("gcc", "-c", path+".s", "-o", path+".o").CombinedOutput()
		require.NoError(t, err, "%s", out)
		return path + ".o"
	}
	twice := head + ".visible .func (.param .b32 r) twice(.param .b32 x)\n{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; }\n"
	unused := head + ".visible .entry unused() { ret; }\n"
	archive := filepath.Join(dir, "libtwice.a")
	code := object("both", fatbinOf(unused, 52), fatbinOf(twice, 52))
	out, err := exec.Command("ar", "rcs", archive, object("host"), code).CombinedOutput()
	require.NoError(t, err, "%s", out)
	run(t, lib, compileProgram(t, lib, "testdata/library/link.c"), nil, archive, code)
}
