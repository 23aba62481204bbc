package ranks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// Checkpoints are files with the contents of the buffers that live from step to step, one for each rank and checkpoint:
//
//	DIR/rank3.step1200
//
//	magic, hash of the plan, number of steps         8 + 32 + 8 bytes
//	pieces: device, buffer, lo, hi, the bytes        4 + 4 + 8 + 8 + hi-lo bytes each
//	device -2, buffer, lo, hi, a step, the bytes     4 + 4 + 8 + 8 + 8 + hi-lo bytes for bytes that no device holds and that
//	                                                 were written after the first step
//	a piece of device -1; CRC-32 (Castagnoli) of everything before
//
// A file is written under another name and renamed, so that it is whole or absent. Each rank keeps its last two, since a
// failure may come when only some ranks have written the last one.

// checkpoints is where and how often a plan writes checkpoints.
type checkpoints struct {
	dir   string
	every int // steps; 0 for none
}

const (
	checkpointMagic = "RPRSCKP1"
	keptCheckpoints = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checkpoint makes Run and RunUntil write the live buffers to a directory whenever the number of steps since the beginning
// is a multiple of every. 0 ends that. Each rank writes a file of its own, so the directory may be local to its computer.
func (p *Plan) Checkpoint(dir string, every int) error {
	if every < 0 {
		return fmt.Errorf("a checkpoint every %d steps: the number must not be negative", every)
	}
	if v := p.plan.Variable(); every > 0 && v != "" {
		return fmt.Errorf("a kernel writes variable %s of its module, which checkpoints do not contain: pass it as a buffer", v)
	}
	if every > 0 {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	p.checkpoints = checkpoints{dir, every}
	return nil
}

// hash identifies the program and its plan: a checkpoint is of use to an equal plan of equal kernels only.
func (p *Plan) hash() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, m := range p.plan.Graph.Modules {
		fmt.Fprintf(h, "%d %s\n", len(m.Source), m.Source)
	}
	fmt.Fprint(h, ir.Print(p.plan.Graph), p.plan)
	h.Sum(sum[:0])
	return sum
}

// file returns the name of a checkpoint.
func (p *Plan) file(dir string, step int) string {
	return filepath.Join(dir, fmt.Sprintf("rank%d.step%d", p.Rank().Number(), step))
}

// Rank returns the rank of the plan.
func (p *Plan) Rank() *Rank { return p.rank }

// save writes a checkpoint and removes old ones, and those of later steps: they are from an earlier run, and Resume would
// prefer them.
func (p *Plan) save() error {
	name := p.file(p.checkpoints.dir, p.steps)
	if err := p.write(name + ".part"); err != nil {
		return errors.Join(fmt.Errorf("checkpoint: %w", err), os.Remove(name+".part"))
	}
	if err := os.Rename(name+".part", name); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	have := p.saved(p.checkpoints.dir)
	now := slices.Index(have, p.steps)
	for i, step := range have {
		if i > now-keptCheckpoints && i <= now {
			continue
		}
		if err := os.Remove(p.file(p.checkpoints.dir, step)); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	return nil
}

// saved returns the steps of the checkpoints of this rank, ascending.
func (p *Plan) saved(dir string) (steps []int) {
	files, _ := os.ReadDir(dir) // one that does not exist has none
	for _, f := range files {
		digits, mine := strings.CutPrefix(f.Name(), fmt.Sprintf("rank%d.step", p.Rank().Number()))
		if n, err := strconv.Atoi(digits); mine && err == nil && n > 0 {
			steps = append(steps, n)
		}
	}
	slices.Sort(steps)
	return steps
}

// write writes the live buffers to a file.
func (p *Plan) write(name string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := crc32.New(castagnoli)
	buffered := bufio.NewWriterSize(f, 1<<20)
	w := io.MultiWriter(buffered, sum)
	hash := p.hash()
	header := append([]byte(checkpointMagic), hash[:]...)
	header = binary.LittleEndian.AppendUint64(header, uint64(p.steps))
	if _, err := w.Write(header); err != nil {
		return err
	}
	err = p.live(func(d int, b ir.BufferID, lo, hi int64) error {
		data := make([]byte, hi-lo)
		if err := p.rank.devices[d].Read(data, p.memory[d].byte(b, lo)); err != nil {
			return p.at(d, err)
		}
		if _, err := w.Write(pieceHeader(int32(d), b, lo, hi)); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := w.Write(p.writtenLate()); err != nil {
		return err
	}
	if _, err := w.Write(pieceHeader(-1, 0, 0, 0)); err != nil {
		return err
	}
	if _, err := buffered.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

const pieceHeaderBytes = 24

func pieceHeader(d int32, b ir.BufferID, lo, hi int64) []byte {
	h := binary.LittleEndian.AppendUint32(nil, uint32(d))
	h = binary.LittleEndian.AppendUint32(h, uint32(b))
	h = binary.LittleEndian.AppendUint64(h, uint64(lo))
	return binary.LittleEndian.AppendUint64(h, uint64(hi))
}

// live calls f for the bytes that the devices of the rank hold and that later steps may read.
func (p *Plan) live(f func(d int, b ir.BufferID, lo, hi int64) error) error {
	for b, ranges := range p.held() {
		if p.plan.Graph.Buffers[b].Role == ir.Temporary {
			continue
		}
		for _, h := range ranges {
			for d := range p.rank.devices {
				part := p.memory[d].part[b]
				lo, hi := max(h.Lo, part.Lo), min(h.Hi, part.Hi)
				if lo >= hi || !h.On(p.rank.first+int32(d)) {
					continue
				}
				if err := f(d, ir.BufferID(b), lo, hi); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Resume continues from the last checkpoint that all ranks have in a directory, and returns its number of steps: 0 if there
// is none. Call it before the first step, after the initial contents have been written. It is collective. It returns an error if
// a checkpoint is of another program or machine, or damaged.
func (p *Plan) Resume(ctx context.Context, dir string) (steps int, err error) {
	if err := p.usable(); err != nil {
		return 0, err
	}
	if p.steps > 0 {
		return 0, fmt.Errorf("the plan has run %d steps already: resume before the first one", p.steps)
	}
	step, err := p.common(ctx, dir)
	if err != nil || step == 0 {
		return 0, err
	}
	if err := p.restore(p.file(dir, step), step); err != nil {
		return 0, p.failure(fmt.Errorf("resume from step %d: %w", step, err))
	}
	return step, nil
}

// common returns the last step of which all ranks have a checkpoint, 0 if there is none.
func (p *Plan) common(ctx context.Context, dir string) (int, error) {
	var mine []byte
	for _, s := range p.saved(dir) {
		mine = binary.LittleEndian.AppendUint64(mine, uint64(s))
	}
	all, err := p.gather(ctx, "Resume", mine)
	if err != nil {
		return 0, err
	}
	best := 0
	for ; len(mine) > 0; mine = mine[8:] {
		everywhere := true
		for _, theirs := range all {
			everywhere = everywhere && hasWord(theirs, mine[:8])
		}
		if everywhere {
			best = int(binary.LittleEndian.Uint64(mine))
		}
	}
	return best, nil
}

// hasWord reports whether a list of words of eight bytes contains one.
func hasWord(list, word []byte) bool {
	for ; len(list) >= 8; list = list[8:] {
		if bytes.Equal(list[:8], word) {
			return true
		}
	}
	return false
}

// restore reads a checkpoint.
func (p *Plan) restore(name string, step int) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	hash := p.hash()
	const head = len(checkpointMagic) + sha256.Size + 8
	if len(data) < head+pieceHeaderBytes+4 || string(data[:len(checkpointMagic)]) != checkpointMagic {
		return fmt.Errorf("%s is no checkpoint, or is cut off", name)
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return fmt.Errorf("%s is damaged: its checksum does not match", name)
	}
	if !bytes.Equal(body[len(checkpointMagic):head-8], hash[:]) {
		return fmt.Errorf("%s is of another program, or of another machine", name)
	}
	p.steps = step
	body = body[head:]
	err = p.live(func(d int, b ir.BufferID, lo, hi int64) error {
		want := pieceHeader(int32(d), b, lo, hi)
		if int64(len(body)) < pieceHeaderBytes+hi-lo || !bytes.Equal(body[:pieceHeaderBytes], want) {
			return fmt.Errorf("%s does not have bytes %d to %d of %s", name, lo, hi, p.plan.Graph.Buffers[b].Name)
		}
		piece := body[pieceHeaderBytes : pieceHeaderBytes+hi-lo]
		body = body[pieceHeaderBytes+hi-lo:]
		return p.at(d, p.rank.devices[d].Write(p.memory[d].byte(b, lo), piece))
	})
	if err == nil && !p.restoreLate(body) {
		err = fmt.Errorf("%s does not end as checkpoints do", name)
	}
	return err
}
