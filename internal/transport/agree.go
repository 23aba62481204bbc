package transport

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Named is one item of a list on which ranks must agree.
type Named struct {
	Name string // for the error
	Hash [sha256.Size]byte
}

// AgreeError reports the first item that differs between ranks.
type AgreeError struct {
	Index int // of the item, from 0
	// Groups are the ranks that have the same item here, ordered by their first rank, and Names is the name of the item for
	// each group. A group without an item has the name "": its lists end before.
	Groups [][]int
	Names  []string
}

func (e *AgreeError) Error() string {
	words := make([]string, len(e.Names))
	for i, name := range e.Names {
		if name = fmt.Sprintf("%q", name); name == `""` {
			name = "no such item"
		} else if slices.Index(e.Names, e.Names[i]) < i {
			name = "another " + name
		}
		words[i] = fmt.Sprintf("%s on %s", name, ranks(e.Groups[i]))
	}
	return fmt.Sprintf("the ranks differ in item %d: %s: all ranks must run the same program with the same arguments", e.Index, strings.Join(words, ", "))
}

// Agree returns nil if all ranks pass the same list, and otherwise an *AgreeError for the first item that differs, the
// same on all ranks. It is collective.
//
// One Gather compares the lengths and a hash of the whole lists. If they differ, a binary search over the hashes of
// prefixes finds the first different item, with one Gather of 32 bytes for each halving.
func Agree(ctx context.Context, t Transport, items []Named) error {
	prefixes := prefixHashes(items)
	all := prefixes[len(items)]
	heads, err := t.Gather(ctx, append(binary.LittleEndian.AppendUint64(nil, uint64(len(items))), all[:]...))
	if err != nil || sameBytes(heads) {
		return err
	}
	shortest := len(items)
	for _, head := range heads {
		shortest = min(shortest, int(binary.LittleEndian.Uint64(head)))
	}
	at, err := firstDifference(ctx, t, prefixes[:shortest+1])
	if err != nil {
		return err
	}
	return differ(ctx, t, items, at)
}

// prefixHashes returns the hash of the first i items, for all i. A hash is that of the one before and the next item.
func prefixHashes(items []Named) [][sha256.Size]byte {
	hashes := make([][sha256.Size]byte, len(items)+1)
	for i, item := range items {
		text := append(slices.Clone(hashes[i][:]), item.Hash[:]...)
		hashes[i+1] = sha256.Sum256(append(text, item.Name...))
	}
	return hashes
}

func sameBytes(parts [][]byte) bool {
	for _, part := range parts {
		if string(part) != string(parts[0]) {
			return false
		}
	}
	return true
}

// firstDifference returns the largest i such that all ranks have equal prefixes of i items. All ranks pass the same
// number of prefixes.
func firstDifference(ctx context.Context, t Transport, prefixes [][sha256.Size]byte) (int, error) {
	equal, different := 0, len(prefixes)
	for different-equal > 1 {
		middle := (equal + different) / 2
		parts, err := t.Gather(ctx, prefixes[middle][:])
		if err != nil {
			return 0, err
		}
		if sameBytes(parts) {
			equal = middle
		} else {
			different = middle
		}
	}
	return equal, nil
}

// differ returns the error for the item at this index. Each rank sends its item, or nothing if it has none.
func differ(ctx context.Context, t Transport, items []Named, at int) error {
	var mine []byte
	if at < len(items) {
		mine = append(slices.Clone(items[at].Hash[:]), items[at].Name...)
	}
	parts, err := t.Gather(ctx, mine)
	if err != nil {
		return err
	}
	e := &AgreeError{Index: at}
	e.Groups = groups(parts)
	for _, group := range e.Groups {
		part := parts[group[0]]
		e.Names = append(e.Names, string(part[min(len(part), sha256.Size):]))
	}
	return e
}

// groups returns the ranks that pass equal parts, ordered by their first rank.
func groups(parts [][]byte) (list [][]int) {
	group := map[string]int{}
	for r, part := range parts {
		g, known := group[string(part)]
		if !known {
			g = len(list)
			group[string(part)] = g
			list = append(list, nil)
		}
		list[g] = append(list[g], r)
	}
	return list
}
