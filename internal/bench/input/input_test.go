package input

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSplitMix64 compares with the numbers that Rosetta Code lists for the seed
// 1234567.
func TestSplitMix64(t *testing.T) {
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	for i, w := range want {
		if got := Sequence(1234567).Uint64(i); got != w {
			t.Errorf("number %d = %d, want %d", i, got, w)
		}
	}
}

// TestSequence compares with values that were computed from the definition in another language, with integers of
// arbitrary size.
func TestSequence(t *testing.T) {
	s := Of("vec/x", 1)
	if s != 0x32b3a9abf651e0f7 {
		t.Errorf("Of(vec/x, 1) = %#x", uint64(s))
	}
	for i, w := range []float32{13409680, 6803292, 13287403, 12300123} {
		if got := s.Float32(i) * (1 << 24); got != w {
			t.Errorf("float32 %d = %v / 2^24, want %v", i, got, w)
		}
	}
	for i, w := range []float64{7199267663214601, 3652490041358055, 7133620436322225, 6603578389833032} {
		if got := s.Float64(i) * (1 << 53); got != w {
			t.Errorf("float64 %d = %v / 2^53, want %v", i, got, w)
		}
	}
	for i, w := range []uint32{7, 4, 7, 7, 0, 5, 7, 2, 1, 2, 1, 3} {
		if got := s.Below(i, 10); got != w {
			t.Errorf("number %d below 10 = %d, want %d", i, got, w)
		}
	}
	if s == Of("vec/x", 2) || s == Of("vec/y", 1) {
		t.Error("other seeds and arrays give the same sequence")
	}
}

// TestHash: as TestSequence.
func TestHash(t *testing.T) {
	for text, want := range map[string]uint64{
		"": 0, "a": 0x4cd3b69d188e71bd, "12345678": 0x95a8cf534c586ae8, "123456789": 0x56efb705f25f77c7,
	} {
		if got := Hash(0, []byte(text)); got != want {
			t.Errorf("Hash(%q) = %#x, want %#x", text, got, want)
		}
	}
	if got := Hash(Hash(0, []byte("abc")), []byte("defghijkl")); got != 0xb19171db49ae1548 {
		t.Errorf("two arrays: %#x", got)
	}
	if Hash(0, []float32{1, 2, 3}) != Hash(0, bytesOf([]float32{1, 2, 3})) {
		t.Error("the hash of numbers is not that of their bytes")
	}
}

func TestGraphSmall(t *testing.T) {
	g := NewEdges(Of("hits/graph", 7), 16).Graph()
	want := [][]int32{
		{7, 3, 2}, {9, 5, 14}, {3, 9, 14}, {4, 9, 8}, {9, 15, 10}, {0, 1, 5}, {1, 12, 5}, {5, 8, 13},
		{0, 9, 5}, {11, 14, 15}, {13, 0, 12}, {8, 13, 12}, {13, 0, 12}, {12, 1, 8}, {4, 7, 2}, {13, 3, 5},
	}
	for i, w := range want {
		if row := g.Idx[g.Ptr[i]:g.Ptr[i+1]]; !slices.Equal(row, w) {
			t.Errorf("targets of %d = %v, want %v", i, row, w)
		}
	}
}

// TestGraph compares both forms with an adjacency matrix.
func TestGraph(t *testing.T) {
	for _, n := range []int{3, 16, 24, 1000, partition + 5} {
		all := NewEdges(Of("hits/graph", 1), n)
		g := all.Graph()
		edges := map[[2]int32]bool{}
		for i := range int32(n) {
			for _, v := range g.Idx[g.Ptr[i]:g.Ptr[i+1]] {
				edges[[2]int32{i, v}] = true
			}
		}
		if len(edges) != Degree*n {
			t.Errorf("%d vertices: %d distinct edges, want %d", n, len(edges), Degree*n)
		}
		back := all.Transpose()
		for v := range int32(n) {
			row := back.Idx[back.Ptr[v]:back.Ptr[v+1]]
			if !slices.IsSorted(row) {
				t.Errorf("%d vertices: the sources of %d do not ascend: %v", n, v, row)
			}
			for _, i := range row {
				if !edges[[2]int32{i, v}] {
					t.Errorf("%d vertices: the transpose has edge %d -> %d twice, or the graph does not have it", n, v, i)
				}
				delete(edges, [2]int32{i, v})
			}
		}
		if len(edges) > 0 {
			t.Errorf("%d vertices: the transpose lacks %d edges", n, len(edges))
		}
	}
}

// TestCpp builds the C++ generator with the flags of the baselines, and again with the strongest
// contraction and optimization. Both must produce the same bytes as Go.
func TestCpp(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("there is no g++")
	}
	for _, flags := range []string{"-O2 -ffp-contract=off", "-O3 -march=native -ffp-contract=fast"} {
		t.Run(flags, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "input")
			args := append(strings.Fields("-std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I ../../../baseline/common "+flags),
				"testdata/input.cpp", "-o", program)
			if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, array := range []string{"vec/x", "bs/x", "ml/", ""} {
				for _, seed := range []uint64{0, 1, 1 << 63} {
					compare(t, goBytes(Of(array, seed), 1001), run(t, nil, program, "bytes", array, fmt.Sprint(seed), "1001"))
				}
			}
			for _, n := range []int{16, 1000, partition + 5} {
				compare(t, goGraph(Of("hits/graph", 3), n), run(t, nil, program, "graph", "hits/graph", "3", fmt.Sprint(n)))
			}
			r := rand.New(rand.NewPCG(1, 2))
			for n := 3; n < 40; n++ {
				data := make([]byte, n)
				for i := range data {
					data[i] = byte(r.Uint32())
				}
				want := fmt.Sprintf("%016x\n", Hash(Hash(0, data[:3]), data[3:]))
				if got := run(t, data, program, "hash"); string(got) != want {
					t.Errorf("hash of %x: C++ has %s, Go %s", data, got, want)
				}
			}
		})
	}
}

func goBytes(s Sequence, n int) []byte {
	var b []byte
	for i := range n {
		for _, v := range []any{
			s.Uint64(i), s.Float32(i), s.Float64(i), s.Below(i, 10),
			2*s.Float32(i) - 1, 59.5 + s.Float64(i), (2*s.Float32(i) - 1) / float32(n),
		} {
			b, _ = binary.Append(b, binary.LittleEndian, v)
		}
	}
	return b
}

func goGraph(s Sequence, n int) []byte {
	edges := NewEdges(s, n)
	g, back := edges.Graph(), edges.Transpose()
	return bytes.Join([][]byte{bytesOf(g.Ptr), bytesOf(g.Idx), bytesOf(back.Ptr), bytesOf(back.Idx)}, nil)
}

func run(t *testing.T, stdin []byte, program string, args ...string) []byte {
	t.Helper()
	c := exec.Command(program, args...)
	c.Stdin = bytes.NewReader(stdin)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	return out
}

func compare(t *testing.T, want, got []byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("C++ has %d bytes, Go %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("byte %d differs: C++ has %#x, Go %#x", i, got[i], want[i])
		}
	}
}
