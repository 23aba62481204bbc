//go:build cuda && cgo

package simabi

import (
	"slices"
	"strconv"
	"strings"
)

// visible returns the GPUs in a value of $CUDA_VISIBLE_DEVICES, in its order and
// renumbered. As in a driver, the value lists ordinals or prefixes of UUIDs, and
// the list ends at the first entry that matches no GPU. No GPU is visible if one is
// listed twice or a prefix matches several.
func visible(gpus []*gpu, list string) []*gpu {
	find := byOrdinal
	if strings.HasPrefix(list, uuidPrefix) {
		find = byUUID
	}
	var seen []*gpu
	for entry := range strings.SplitSeq(list, ",") {
		found := find(gpus, strings.TrimSpace(entry))
		if len(found) == 0 {
			break
		}
		if len(found) > 1 || slices.Contains(seen, found[0]) {
			return nil
		}
		seen = append(seen, found[0])
	}
	for i, g := range seen {
		g.ordinal = i
	}
	return seen
}

// byOrdinal returns the GPU whose slot is the number at the start of the entry. As
// in a driver, which uses strtol, text after the digits is ignored.
func byOrdinal(gpus []*gpu, entry string) []*gpu {
	end := strings.IndexFunc(entry, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(entry)
	}
	slot, err := strconv.Atoi(entry[:end])
	if err != nil || slot >= len(gpus) {
		return nil
	}
	return gpus[slot : slot+1]
}

// uuidPrefix starts the text form of a UUID, as nvidia-smi -L prints it.
const uuidPrefix = "GPU-"

// byUUID returns the GPUs whose UUID starts with the entry.
func byUUID(gpus []*gpu, entry string) []*gpu {
	if !strings.HasPrefix(entry, uuidPrefix) {
		return nil
	}
	var found []*gpu
	for _, g := range gpus {
		if strings.HasPrefix(g.uuidText(), entry) {
			found = append(found, g)
		}
	}
	return found
}
