package interp

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strings"
)

// form is an instruction that random programs are made of. Its text names the
// results $d and $e and the sources $a, $b, $c and $f, whose registers the letters
// before and behind '=' of args choose:
//
//	h r l  16, 32, 64 bits                n  32 bits or a small number
//	H R L  the same or a whole number     c  the carry, which the text does not show
//	p      predicate
type form struct {
	text string
	args string
	eval func(s []uint64) []uint64
}

// forms is every data instruction whose result the ISA fixes.
func forms() []form {
	var l formList
	for _, t := range []string{"s16", "u16", "s32", "u32", "s64", "u64"} {
		l.integer(numerics[t])
	}
	for _, t := range []string{"b16", "b32", "b64"} {
		l.bitwise(numerics[t])
	}
	for _, t := range []string{"s32", "u32", "s64", "u64"} {
		l.fields(numerics[t])
	}
	l.carries()
	l.words()
	l.packed()
	l.video()
	for _, t := range []string{"f32", "f64", "f16", "bf16"} {
		l.float(numerics[t])
	}
	l.comparisons()
	l.conversions()
	slices.SortFunc(l, func(a, b form) int { return strings.Compare(a.text, b.text) }) // maps have no order, seeds need one
	return l
}

type formList []form

func (l *formList) add(text, args string, eval func(s []uint64) []uint64) {
	*l = append(*l, form{text, args, eval})
}

// op adds "name $d, $a, …" with one result.
func (l *formList) op(name, args string, eval func(s []uint64) uint64) {
	text := name + " $d"
	for i := range strings.SplitAfter(args, "=")[1] {
		text += ", $" + string("abcf"[i])
	}
	l.add(text+";", args, func(s []uint64) []uint64 { return []uint64{eval(s)} })
}

func whole(v int64) *big.Int { return big.NewInt(v) }

func (l *formList) integer(t numeric) {
	c := t.class()
	in := strings.ToUpper(c)
	two, three := c+"="+in+in, c+"="+in+in+in
	reg := func(name, args string, f func(v []*big.Int) *big.Int) {
		l.op(name+"."+t.name, args, func(s []uint64) uint64 {
			var v []*big.Int
			for _, x := range s {
				v = append(v, t.integer(x))
			}
			return t.wrap(f(v))
		})
	}
	product := func(v []*big.Int) *big.Int { return new(big.Int).Mul(v[0], v[1]) }
	upper := func(v []*big.Int) *big.Int { return new(big.Int).Rsh(product(v), uint(t.bits)) }
	sum := func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
	reg("add", two, func(v []*big.Int) *big.Int { return sum(v[0], v[1]) })
	reg("sub", two, func(v []*big.Int) *big.Int { return new(big.Int).Sub(v[0], v[1]) })
	reg("mul.lo", two, product)
	reg("mul.hi", two, upper)
	reg("mad.lo", three, func(v []*big.Int) *big.Int { return sum(product(v), v[2]) })
	reg("mad.hi", three, func(v []*big.Int) *big.Int { return sum(upper(v), v[2]) })
	reg("sad", three, func(v []*big.Int) *big.Int {
		d := new(big.Int).Sub(v[0], v[1])
		return sum(d.Abs(d), v[2])
	})
	reg("min", two, func(v []*big.Int) *big.Int {
		if v[0].Cmp(v[1]) < 0 {
			return v[0]
		}
		return v[1]
	})
	reg("max", two, func(v []*big.Int) *big.Int {
		if v[0].Cmp(v[1]) > 0 {
			return v[0]
		}
		return v[1]
	})
	if t.signed {
		reg("neg", c+"="+in, func(v []*big.Int) *big.Int { return new(big.Int).Neg(v[0]) })
		reg("abs", c+"="+in, func(v []*big.Int) *big.Int { return new(big.Int).Abs(v[0]) })
	}
	l.op("shr."+t.name, c+"="+in+"n", func(s []uint64) uint64 {
		return t.wrap(new(big.Int).Rsh(t.integer(s[0]), uint(min(s[1], 64))))
	})
	for name, f := range map[string]func(a, b *big.Int) *big.Int{
		"div": func(a, b *big.Int) *big.Int { return new(big.Int).Quo(a, b) },
		"rem": func(a, b *big.Int) *big.Int { return new(big.Int).Rem(a, b) },
	} {
		// A zero divisor is left open, so it is made odd first.
		text := fmt.Sprintf("or.b%d %%%st, $b, 1;\n%s.%s $d, $a, %%%st;", t.bits, c, name, t.name, c)
		l.add(text, two, func(s []uint64) []uint64 { return []uint64{t.wrap(f(t.integer(s[0]), t.integer(s[1]|1)))} })
	}
	if t.bits < 64 {
		w := numerics[map[string]string{"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}[t.name]]
		wide := func(s []uint64) *big.Int { return product([]*big.Int{t.integer(s[0]), t.integer(s[1])}) }
		l.op("mul.wide."+t.name, w.class()+"="+in+in, func(s []uint64) uint64 { return w.wrap(wide(s)) })
		l.op("mad.wide."+t.name, w.class()+"="+in+in+strings.ToUpper(w.class()), func(s []uint64) uint64 { return w.wrap(sum(wide(s), w.integer(s[2]))) })
	}
}

func (l *formList) bitwise(t numeric) {
	c := t.class()
	in := strings.ToUpper(c)
	two := c + "=" + in + in
	l.op("and."+t.name, two, func(s []uint64) uint64 { return s[0] & s[1] })
	l.op("or."+t.name, two, func(s []uint64) uint64 { return s[0] | s[1] })
	l.op("xor."+t.name, two, func(s []uint64) uint64 { return s[0] ^ s[1] })
	l.op("not."+t.name, c+"="+in, func(s []uint64) uint64 { return ^s[0] & t.mask() })
	l.op("cnot."+t.name, c+"="+in, func(s []uint64) uint64 { return oneIf(s[0] == 0) })
	l.op("mov."+t.name, c+"="+in, func(s []uint64) uint64 { return s[0] })
	l.op("shl."+t.name, c+"="+in+"n", func(s []uint64) uint64 {
		return t.wrap(new(big.Int).Lsh(t.integer(s[0]), uint(min(s[1], 64))))
	})
	l.op("selp."+t.name, c+"="+in+in+"p", func(s []uint64) uint64 { return pick(s[2] == 1, s[0], s[1]) })
	l.op("slct."+t.name+".s32", c+"="+in+in+"r", func(s []uint64) uint64 { return pick(int32(s[2]) >= 0, s[0], s[1]) })
	l.op("slct."+t.name+".f32", c+"="+in+in+"r", func(s []uint64) uint64 {
		f := numerics["f32"]
		return pick(!f.isNaN(s[2]) && (!f.sign(s[2]) || f.isZero(s[2])), s[0], s[1])
	})
}

func oneIf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func pick(first bool, a, b uint64) uint64 {
	if first {
		return a
	}
	return b
}

func bit(v uint64, i uint64) uint64 {
	if i > 63 {
		return 0
	}
	return v >> i & 1
}

// fields are the instructions that look for bits and move them.
func (l *formList) fields(t numeric) {
	c, w := t.class(), uint64(t.bits)
	in := strings.ToUpper(c)
	l.op("bfe."+t.name, c+"="+in+"nn", func(s []uint64) (d uint64) {
		pos, n := s[1]&255, s[2]&255
		fill := uint64(0)
		if t.signed && n > 0 {
			fill = bit(s[0], min(pos+n-1, w-1))
		}
		for i := range w {
			v := fill
			if i < n && pos+i < w {
				v = bit(s[0], pos+i)
			}
			d |= v << i
		}
		return d
	})
	find := func(v uint64) int {
		x := t.integer(v)
		if x.Sign() < 0 {
			x.Not(x)
		}
		return x.BitLen() - 1
	}
	l.op("bfind."+t.name, "r="+in, func(s []uint64) uint64 { return uint64(uint32(find(s[0]))) })
	l.op("bfind.shiftamt."+t.name, "r="+in, func(s []uint64) uint64 {
		if find(s[0]) < 0 {
			return 0xffffffff
		}
		return uint64(t.bits - 1 - find(s[0]))
	})
	if t.signed {
		return
	}
	b := fmt.Sprintf("b%d", w)
	l.op("bfi."+b, c+"="+in+in+"nn", func(s []uint64) uint64 {
		d, pos, n := s[1], s[2]&255, s[3]&255
		for i := range n {
			if pos+i < w {
				d = d&^(1<<(pos+i)) | bit(s[0], i)<<(pos+i)
			}
		}
		return d
	})
	l.op("popc."+b, "r="+in, func(s []uint64) (n uint64) {
		for i := range w {
			n += bit(s[0], i)
		}
		return n
	})
	l.op("clz."+b, "r="+in, func(s []uint64) uint64 { return uint64(t.bits - t.integer(s[0]).BitLen()) })
	l.op("brev."+b, c+"="+in, func(s []uint64) (d uint64) {
		for i := range w {
			d |= bit(s[0], i) << (w - 1 - i)
		}
		return d
	})
}

// carries are the chains through the condition code.
func (l *formList) carries() {
	for _, t := range []numeric{numerics["u32"], numerics["s32"], numerics["u64"], numerics["s64"]} {
		c := t.class()
		from := strings.ToUpper(c)
		u := numerics["u"+t.name[1:]]
		for _, in := range []string{"", "c"} {
			for _, out := range []string{"", ".cc"} {
				if in+out == "" {
					continue
				}
				result := func(x *big.Int, s []uint64, flag bool) []uint64 {
					carry := s[len(s)-1]
					if out != "" {
						carry = oneIf(flag)
					}
					return []uint64{u.wrap(x), carry}
				}
				sum := func(x *big.Int, s []uint64) []uint64 { return result(x, s, x.Cmp(u.greatest()) > 0) }
				taken := func(s []uint64) *big.Int {
					if in == "" {
						return new(big.Int)
					}
					return whole(int64(s[len(s)-1]))
				}
				l.add("add"+in+out+"."+t.name+" $d, $a, $b;", c+"c="+from+from+"c", func(s []uint64) []uint64 {
					x := new(big.Int).Add(u.integer(s[0]), u.integer(s[1]))
					return sum(x.Add(x, taken(s)), s)
				})
				l.add("sub"+in+out+"."+t.name+" $d, $a, $b;", c+"c="+from+from+"c", func(s []uint64) []uint64 {
					x := new(big.Int).Sub(u.integer(s[0]), u.integer(s[1]))
					if in != "" { // a carry of 0 is a borrow
						x.Sub(x, whole(1)).Add(x, taken(s))
					}
					return result(x, s, x.Sign() >= 0)
				})
				for _, half := range []string{"lo", "hi"} {
					l.add("mad"+in+"."+half+out+"."+t.name+" $d, $a, $b, $c;", c+"c="+from+from+from+"c", func(s []uint64) []uint64 {
						p := new(big.Int).Mul(t.integer(s[0]), t.integer(s[1]))
						if half == "hi" {
							p.Rsh(p, uint(t.bits))
						}
						x := new(big.Int).Add(u.integer(u.wrap(p)), u.integer(s[2]))
						return sum(x.Add(x, taken(s)), s)
					})
				}
			}
		}
	}
}

// words are the instructions that exist for 32 bits only.
func (l *formList) words() {
	low24 := func(v uint64, signed bool) *big.Int {
		if signed && v>>23&1 == 1 {
			return whole(int64(v&0xffffff) - 1<<24)
		}
		return whole(int64(v & 0xffffff))
	}
	s32, u32 := numerics["s32"], numerics["u32"]
	for _, t := range []numeric{s32, u32} {
		for half, shift := range map[string]uint{"lo": 0, "hi": 16} {
			product := func(s []uint64) *big.Int {
				p := new(big.Int).Mul(low24(s[0], t.signed), low24(s[1], t.signed))
				return t.integer(t.wrap(p.Rsh(p, shift)))
			}
			l.op("mul24."+half+"."+t.name, "r=rr", func(s []uint64) uint64 { return t.wrap(product(s)) })
			l.op("mad24."+half+"."+t.name, "r=rrr", func(s []uint64) uint64 {
				return t.wrap(new(big.Int).Add(product(s), t.integer(s[2])))
			})
		}
		for _, mode := range []string{"clamp", "wrap"} {
			l.op("szext."+mode+"."+t.name, "r=rn", func(s []uint64) uint64 {
				n := min(s[1], 32)
				if mode == "wrap" {
					n = s[1] & 31
				}
				v := s[0] & (1<<n - 1)
				if n > 0 && t.signed && bit(v, n-1) == 1 {
					v |= ^uint64(0) << n
				}
				return v & 0xffffffff
			})
		}
	}
	for _, mode := range []string{"clamp", "wrap"} {
		amount := func(n uint64) uint64 {
			if mode == "wrap" {
				return n & 31
			}
			return min(n, 32)
		}
		l.op("shf.l."+mode+".b32", "r=rrn", func(s []uint64) uint64 { return (s[1]<<32 | s[0]) << amount(s[2]) >> 32 })
		l.op("shf.r."+mode+".b32", "r=rrn", func(s []uint64) uint64 { return (s[1]<<32 | s[0]) >> amount(s[2]) & 0xffffffff })
		l.op("bmsk."+mode+".b32", "r=nn", func(s []uint64) (d uint64) {
			pos, n := s[0], s[1]
			if mode == "wrap" {
				pos, n = pos&31, n&31
			}
			for i := range uint64(32) {
				d |= oneIf(i >= pos && i < pos+n) << i
			}
			return d
		})
	}
	clampSum := func(x *big.Int) uint64 { return s32.wrap(s32.clamp(x)) }
	l.op("add.sat.s32", "r=rr", func(s []uint64) uint64 { return clampSum(new(big.Int).Add(s32.integer(s[0]), s32.integer(s[1]))) })
	l.op("sub.sat.s32", "r=rr", func(s []uint64) uint64 { return clampSum(new(big.Int).Sub(s32.integer(s[0]), s32.integer(s[1]))) })
	l.op("mad.hi.sat.s32", "r=rrr", func(s []uint64) uint64 {
		p := new(big.Int).Mul(s32.integer(s[0]), s32.integer(s[1]))
		return clampSum(p.Add(p.Rsh(p, 32), s32.integer(s[2])))
	})
	l.permutes()
	for lut := range uint64(256) {
		l.op3(fmt.Sprintf("lop3.b32 $d, $a, $b, $c, %d;", lut), func(a, b, c uint64) (d uint64) {
			for i := range uint64(32) {
				d |= bit(lut, bit(a, i)<<2|bit(b, i)<<1|bit(c, i)) << i
			}
			return d
		})
	}
	l.add("and.b32 %rt, $b, 31;\nfns.b32 $d, $a, %rt, $c;", "r=rrn", func(s []uint64) []uint64 {
		return []uint64{nthSet(uint32(s[0]), int(s[1]&31), int(int32(s[2])))}
	})
	for ta := range 2 {
		for tb := range 2 {
			name := "." + [2]string{"u32", "s32"}[ta] + "." + [2]string{"u32", "s32"}[tb]
			l.op("dp4a"+name, "r=rrr", func(s []uint64) uint64 { return dot(s, 8, 4, 0, ta == 1, tb == 1) })
			l.op("dp2a.lo"+name, "r=rrr", func(s []uint64) uint64 { return dot(s, 16, 2, 0, ta == 1, tb == 1) })
			l.op("dp2a.hi"+name, "r=rrr", func(s []uint64) uint64 { return dot(s, 16, 2, 2, ta == 1, tb == 1) })
		}
	}
}

func (l *formList) op3(text string, f func(a, b, c uint64) uint64) {
	l.add(text, "r=rrr", func(s []uint64) []uint64 { return []uint64{f(s[0], s[1], s[2])} })
}

func (l *formList) permutes() {
	bytesOf := func(a, b uint64, index [4]uint64) (d uint64) {
		for k, i := range index {
			d |= (b<<32 | a) >> (8 * i) & 255 << (8 * k)
		}
		return d
	}
	l.op3("prmt.b32 $d, $a, $b, $c;", func(a, b, c uint64) (d uint64) {
		for k := range 4 {
			nibble := c >> (4 * k) & 15
			v := (b<<32 | a) >> (8 * (nibble & 7)) & 255
			if nibble > 7 {
				v = 255 * (v >> 7)
			}
			d |= v << (8 * k)
		}
		return d
	})
	for mode, table := range map[string][4][4]uint64{ // as the ISA prints it, by the lower bits of c, lowest byte first
		"f4e":  {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
		"b4e":  {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
		"rc8":  {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
		"ecl":  {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
		"ecr":  {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
		"rc16": {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}},
	} {
		l.op3("prmt.b32."+mode+" $d, $a, $b, $c;", func(a, b, c uint64) uint64 { return bytesOf(a, b, table[c&3]) })
	}
}

func nthSet(mask uint32, base, offset int) uint64 {
	if offset == 0 {
		return pick(mask>>base&1 == 1, uint64(base), 0xffffffff)
	}
	var found []int
	for i := range 32 {
		if mask>>i&1 == 1 && (offset > 0 && i >= base || offset < 0 && i <= base) {
			found = append(found, i)
		}
	}
	switch {
	case offset > 0 && offset <= len(found):
		return uint64(found[offset-1])
	case offset < 0 && -offset <= len(found):
		return uint64(found[len(found)+offset])
	}
	return 0xffffffff
}

// dot adds n products of parts of a, of the given bits, and bytes of b to c.
func dot(s []uint64, size, n, first int, signedA, signedB bool) uint64 {
	sum := int64(s[2])
	for k := range n {
		sum += partOf(s[0], size*k, size, signedA) * partOf(s[1], 8*(first+k), 8, signedB)
	}
	return uint64(uint32(sum))
}

func partOf(v uint64, at, size int, signed bool) int64 {
	p := int64(v >> at & (1<<size - 1))
	if signed && p>>(size-1) == 1 {
		p -= 1 << size
	}
	return p
}

// packed are moves between a register and the parts of it.
func (l *formList) packed() {
	l.op("mov.b64", "l=l", func(s []uint64) uint64 { return s[0] })
	l.add("mov.b64 $d, {$a, $b};", "l=rr", func(s []uint64) []uint64 { return []uint64{s[1]<<32 | s[0]} })
	l.add("mov.b32 $d, {$a, $b};", "r=hh", func(s []uint64) []uint64 { return []uint64{s[1]<<16 | s[0]} })
	l.add("mov.b64 {$d, $e}, $a;", "rr=l", func(s []uint64) []uint64 { return []uint64{s[0] & 0xffffffff, s[0] >> 32} })
	l.add("mov.b32 {$d, $e}, $a;", "hh=r", func(s []uint64) []uint64 { return []uint64{s[0] & 0xffff, s[0] >> 16} })
	l.add("mov.b64 $d, {$a, $b, $c, $f};", "l=hhhh", func(s []uint64) []uint64 {
		return []uint64{s[3]<<48 | s[2]<<32 | s[1]<<16 | s[0]}
	})
	for name, f := range map[string]func(a, b uint64) uint64{
		"and": func(a, b uint64) uint64 { return a & b },
		"or":  func(a, b uint64) uint64 { return a | b },
		"xor": func(a, b uint64) uint64 { return a ^ b },
	} {
		l.op(name+".pred", "p=pp", func(s []uint64) uint64 { return f(s[0], s[1]) })
	}
	l.op("not.pred", "p=p", func(s []uint64) uint64 { return 1 - s[0] })
	l.op("mov.pred", "p=p", func(s []uint64) uint64 { return s[0] })
}

// video are some of the video instructions; the instruction files have them all.
func (l *formList) video() {
	for _, lanes := range []int{2, 4} {
		size := 32 / lanes
		for _, signed := range []bool{false, true} {
			typ := "u32"
			if signed {
				typ = "s32"
			}
			for name, f := range map[string]func(a, b int64) int64{
				"vadd": func(a, b int64) int64 { return a + b }, "vsub": func(a, b int64) int64 { return a - b },
				"vmin": func(a, b int64) int64 { return min(a, b) }, "vabsdiff": func(a, b int64) int64 { return max(a-b, b-a) },
			} {
				word := fmt.Sprintf("%s%d.%s.%s.%s", name, lanes, typ, typ, typ)
				l.op3(word+".add $d, $a, $b, $c;", func(a, b, c uint64) uint64 {
					for k := range lanes {
						c += uint64(f(partOf(a, size*k, size, signed), partOf(b, size*k, size, signed)))
					}
					return c & 0xffffffff
				})
				l.op3(word+".sat $d, $a, $b, $c;", func(a, b, c uint64) (d uint64) {
					lo, hi := int64(0), int64(1)<<size-1
					if signed {
						lo, hi = -1<<(size-1), 1<<(size-1)-1
					}
					for k := range lanes {
						v := f(partOf(a, size*k, size, signed), partOf(b, size*k, size, signed))
						d |= uint64(min(max(v, lo), hi)) & (1<<size - 1) << (size * k)
					}
					return d
				})
			}
		}
	}
	l.op3("vmad.u32.u32.u32.sat.shr15 $d, $a, $b, $c;", func(a, b, c uint64) uint64 {
		hi, lo := bits.Mul64(a, b)
		lo, carry := bits.Add64(lo, c, 0)
		if v := lo >> 15; hi+carry == 0 && v < 1<<32 {
			return v
		}
		return 0xffffffff
	})
}

// float are arithmetic and comparisons of a float type, and of its packed form.
func (l *formList) float(t numeric) {
	modes := []string{"rn", "rz", "rm", "rp"}
	modifiers := map[string][]string{"f32": {"", ".ftz", ".sat", ".ftz.sat"}, "f64": {""}, "f16": {"", ".ftz", ".sat", ".ftz.sat"}, "bf16": {""}}[t.name]
	if t.bits == 16 {
		modes = modes[:1]
	}
	for _, mode := range modes {
		for _, m := range modifiers {
			l.floatOp("add."+mode, t, m, 2, func(s []uint64) uint64 { return t.add(s[0], s[1], mode) })
			l.floatOp("sub."+mode, t, m, 2, func(s []uint64) uint64 { return t.sub(s[0], s[1], mode) })
			l.floatOp("mul."+mode, t, m, 2, func(s []uint64) uint64 { return t.mul(s[0], s[1], mode) })
			l.floatOp("fma."+mode, t, m, 3, func(s []uint64) uint64 { return t.fma(s[0], s[1], s[2], mode) })
			if t.bits > 16 && !strings.Contains(m, "sat") {
				l.floatOp("div."+mode, t, m, 2, func(s []uint64) uint64 { return t.div(s[0], s[1], mode) })
				l.floatOp("rcp."+mode, t, m, 1, func(s []uint64) uint64 { return t.div(t.one(), s[0], mode) })
				l.floatOp("sqrt."+mode, t, m, 1, func(s []uint64) uint64 { return t.sqrt(s[0], mode) })
			}
		}
	}
	if t.bits == 16 {
		l.floatOp("fma.rn", t, ".relu", 3, func(s []uint64) uint64 {
			v := t.fma(s[0], s[1], s[2], "rn")
			return pick(t.sign(v) && !t.isNaN(v), 0, v)
		})
	}
	for _, m := range modifiers {
		if strings.Contains(m, "sat") {
			continue
		}
		l.floatOp("neg", t, m, 1, func(s []uint64) uint64 { return t.negate(s[0]) })
		l.floatOp("abs", t, m, 1, func(s []uint64) uint64 { return t.magnitude(s[0]) })
		for name, maximum := range map[string]bool{"min": false, "max": true} {
			l.floatOp(name, t, m, 2, func(s []uint64) uint64 { return t.extreme(s[0], s[1], maximum, false) })
			if t.bits == 64 {
				continue
			}
			l.floatOp(name, t, m+".NaN", 2, func(s []uint64) uint64 { return t.extreme(s[0], s[1], maximum, true) })
			l.floatOp(name, t, m+".xorsign.abs", 2, func(s []uint64) uint64 {
				v := t.extreme(t.magnitude(s[0]), t.magnitude(s[1]), maximum, false)
				if t.isNaN(v) {
					return v
				}
				return t.withSign(v, t.sign(s[0]) != t.sign(s[1]))
			})
		}
	}
	if t.bits > 16 {
		l.floatOp("copysign", t, "", 2, func(s []uint64) uint64 { return t.withSign(t.magnitude(s[1]), t.sign(s[0])) })
		l.properties(t)
	}
}

// floatOp adds an operation, and its packed form. A NaN in a register of 32 or 64
// bits is made the one NaN that the evaluator has, since the ISA leaves its bits
// open.
func (l *formList) floatOp(name string, t numeric, m string, n int, f func(s []uint64) uint64) {
	op := func(s []uint64) uint64 {
		s = append([]uint64(nil), s...)
		if strings.Contains(m, ".ftz") {
			for i := range s {
				s[i] = t.flush(s[i])
			}
		}
		v := f(s)
		if strings.Contains(m, ".ftz") {
			v = t.flush(v)
		}
		if strings.Contains(m, ".sat") {
			v = t.saturate(v)
		}
		return v
	}
	c := t.class()
	args := c + "=" + strings.Repeat(c, n)
	text := name + m + "." + t.name + " $d, " + strings.Join([]string{"$a", "$b", "$c"}[:n], ", ") + ";"
	if t.bits == 16 {
		l.add(text, args, func(s []uint64) []uint64 { return []uint64{op(s)} })
		packed := strings.Replace(text, "."+t.name+" ", "."+t.name+"x2 ", 1)
		l.add(packed, "r="+strings.Repeat("r", n), func(s []uint64) []uint64 {
			var lo, hi []uint64
			for _, v := range s {
				lo, hi = append(lo, v&0xffff), append(hi, v>>16)
			}
			return []uint64{op(hi)<<16 | op(lo)}
		})
		return
	}
	l.add(text+oneNaN(t), args, func(s []uint64) []uint64 {
		v := op(s)
		return []uint64{pick(t.isNaN(v), t.nan(), v)}
	})
}

func oneNaN(t numeric) string {
	return fmt.Sprintf("\ntestp.notanumber.%s %%pt, $d;\nselp.b%d $d, %#x, $d, %%pt;", t.name, t.bits, t.nan())
}

func (l *formList) properties(t numeric) {
	normal := func(v uint64) bool { return t.magnitude(v)>>t.frac != 0 && t.magnitude(v) < t.inf() }
	for name, f := range map[string]func(v uint64) bool{
		"finite": func(v uint64) bool { return t.magnitude(v) < t.inf() }, "infinite": t.isInf, "notanumber": t.isNaN,
		"number": func(v uint64) bool { return !t.isNaN(v) }, "normal": normal,
		"subnormal": func(v uint64) bool { return !t.isZero(v) && t.flush(v) != v },
	} {
		l.op("testp."+name+"."+t.name, "p="+t.class(), func(s []uint64) uint64 { return oneIf(f(s[0])) })
	}
}

// comparisons are setp and set with every comparison of every type.
func (l *formList) comparisons() {
	ordered := []string{"eq", "ne", "lt", "le", "gt", "ge"}
	for _, name := range []string{"s16", "u16", "s32", "u32", "s64", "u64", "b16", "b32", "b64", "f16", "bf16", "f32", "f64"} {
		t := numerics[name]
		cmps := ordered
		switch {
		case name[0] == 'b' && t.exp == 0:
			cmps = ordered[:2]
		case name[0] == 'u':
			cmps = append(cmps[:6:6], "lo", "ls", "hi", "hs")
		case t.exp > 0:
			cmps = append(cmps[:6:6], "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
		}
		for _, cmp := range cmps {
			l.comparison(cmp, t, "")
			if name == "f32" || name == "f16" {
				l.comparison(cmp, t, ".ftz")
			}
		}
	}
}

func (l *formList) comparison(cmp string, t numeric, ftz string) {
	c := t.class()
	in := c
	if t.exp == 0 {
		in = strings.ToUpper(c)
	}
	test := func(a, b uint64) bool {
		if ftz != "" {
			a, b = t.flush(a), t.flush(b)
		}
		return t.holds(cmp, a, b)
	}
	word := "setp." + cmp + ftz + "." + t.name
	l.op(word, "p="+in+in, func(s []uint64) uint64 { return oneIf(test(s[0], s[1])) })
	l.op("set."+cmp+ftz+".u32."+t.name, "r="+in+in, func(s []uint64) uint64 { return 0xffffffff * oneIf(test(s[0], s[1])) })
	if t.exp == 0 || t.bits > 16 {
		l.op("set."+cmp+ftz+".f32."+t.name, "r="+in+in, func(s []uint64) uint64 { return 0x3f800000 * oneIf(test(s[0], s[1])) })
	}
	for join, f := range map[string]func(a, b uint64) uint64{
		"and": func(a, b uint64) uint64 { return a & b }, "or": func(a, b uint64) uint64 { return a | b }, "xor": func(a, b uint64) uint64 { return a ^ b },
	} {
		l.add("setp."+cmp+"."+join+ftz+"."+t.name+" $d|$e, $a, $b, $c;", "pp="+in+in+"p", func(s []uint64) []uint64 {
			v := oneIf(test(s[0], s[1]))
			return []uint64{f(v, s[2]), f(1-v, s[2])}
		})
	}
	if t.bits == 16 && t.exp > 0 {
		lo := func(v uint64) uint64 { return v & 0xffff }
		l.add("setp."+cmp+ftz+"."+t.name+"x2 $d|$e, $a, $b;", "pp=rr", func(s []uint64) []uint64 {
			return []uint64{oneIf(test(lo(s[0]), lo(s[1]))), oneIf(test(s[0]>>16, s[1]>>16))}
		})
		l.op("set."+cmp+ftz+"."+t.name+"x2."+t.name+"x2", "r=rr", func(s []uint64) uint64 {
			return t.one() * (oneIf(test(lo(s[0]), lo(s[1]))) | oneIf(test(s[0]>>16, s[1]>>16))<<16)
		})
	}
}

// conversions are cvt between every two types in every rounding.
func (l *formList) conversions() {
	names := []string{"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f16", "bf16", "f32", "f64"}
	for _, src := range names {
		for _, dst := range names {
			s, d := numerics[src], numerics[dst]
			modes := []string{"rn", "rz", "rm", "rp"}
			switch {
			case s.exp == 0 && d.exp == 0, s.exp > 0 && d.exp > 0 && d.exp >= s.exp && d.frac > s.frac:
				modes = []string{""}
			case d.exp == 0:
				modes = []string{"rni", "rzi", "rmi", "rpi"}
			case s == d:
				modes = []string{"", "rni", "rzi", "rmi", "rpi"}
			}
			for _, mode := range modes {
				l.conversion(s, d, mode, "")
				if d.name != "bf16" && s.name != "bf16" && !d.contains(s) {
					l.conversion(s, d, mode, ".sat")
				}
				if s.name == "f32" || d.name == "f32" && s.exp > 0 {
					l.conversion(s, d, mode, ".ftz")
				}
			}
		}
	}
}

// contains reports whether every integer of type s is one of type d. Such a conversion has no .sat.
func (d numeric) contains(s numeric) bool {
	signed := d.name[0] == 's'
	return s.exp == 0 && d.exp == 0 && (d.bits > s.bits && s.name[0] == 'u' || d.bits >= s.bits && signed == (s.name[0] == 's'))
}

func (l *formList) conversion(s, d numeric, mode, m string) {
	word := "cvt"
	if mode != "" {
		word += "." + mode
	}
	text := word + m + "." + d.name + "." + s.name + " $d, $a;"
	if d.exp > 0 && d.bits > 16 {
		text += oneNaN(d)
	}
	l.add(text, d.class()+"="+s.class(), func(v []uint64) []uint64 {
		a := v[0]
		if m == ".ftz" && s.name == "f32" {
			a = s.flush(a)
		}
		r := s.convert(a, d, mode, m == ".sat")
		if m == ".ftz" && d.name == "f32" {
			r = d.flush(r)
		}
		return []uint64{r}
	})
}
