package ptx

import (
	"slices"
	"strings"
)

// formRows lists the forms of opcodes whose modifiers depend on the type, as ptxas 11.8 accepts
// them. A row is an opcode, then its forms separated by ';'. For example:
//
//	sqrt     approx|$round ftz? f32 ; $round f64
//
//	sqrt.approx.f32         first form: approx, no ftz, f32
//	sqrt.rn.ftz.f32         first form: rn of $round, ftz, f32
//	sqrt.rn.f64             second form
//	sqrt.approx.f64         in no form: an error that names both forms for f64
//
// A word of a form is required, one with '?' is optional, and a|b is an alternative. The last
// word is the type. For an opcode of two types it is u8/u16.f32: every type before the dot with
// every type after it. $ starts a name of formMacros.
//
// A form with a type or a modifier that the opcode's vocabulary does not contain is newer than
// this table and is not checked. featureRows has the targets and versions.
const formRows = `
abs      ftz? f32 ; f64 ; ftz? f16|f16x2 ; s16|s32|s64
activemask b32
add      $int ; sat? s32 ; cc u32|s32|u64|s64 ; $round? ftz? sat? f32 ; $round? f64 ; rn? ftz? sat? f16|f16x2
addc     cc? u32|s32|u64|s64
and      pred|b16|b32|b64
atom     $order? $scope? $shared? add u32|s32|u64|f32|f64 ; $order? $scope? $shared? noftz add f16|f16x2 ; $order? $scope? $shared? min|max u32|s32|u64|s64 ; $order? $scope? $shared? and|or|xor|exch b32|b64 ; $order? $scope? $shared? cas b16|b32|b64 ; $order? $scope? $shared? inc|dec u32
bfe      u32|u64|s32|s64
bfi      b32|b64
bfind    shiftamt? u32|u64|s32|s64
bmsk     wrap|clamp b32
brev     b32|b64
clz      b32|b64
cnot     b16|b32|b64
copysign f32|f64
cos      approx ftz? f32
cvt      $widening ; sat? $narrowing ; sat? f64.f16 ; $integral? sat? f16.f16|f64.f64 ; ftz? sat? f32.f16|f64.f32 ; $integral? ftz? sat? f32.f32 ; $round sat? f16/f64.$any|f16.f64 ; $round ftz? sat? f32.$any|f16.f32|f32.f64 ; $integral sat? $any.f16/f64 ; $integral ftz? sat? $any.f32 ; $round? ftz? f32.bf16 ; $round ftz? bf16.f32 ; rn|rz f16x2.f32|bf16x2.f32
cvta     to? const|global|local|shared|param|shared::cta|shared::cluster|param::entry u32|u64
div      $int ; approx|full|$round ftz? f32 ; $round f64
ex2      approx ftz? f32 ; approx ftz? f16|f16x2
fma      $round ftz? sat? f32 ; $round f64 ; rn ftz? sat? f16|f16x2
ld       weak? $space? ca|cg|cs|lu|cv? v2? $data ; weak? $space? ca|cg|cs|lu|cv? v4 $small ; global ca|cg|cs|lu? nc v2? $data ; global ca|cg|cs|lu? nc v4 $small ; volatile $space? v2? $data ; volatile $space? v4 $small ; relaxed|acquire $scope $shared? v2? $data ; relaxed|acquire $scope $shared? v4 $small ; $word? $scope? global $cache? nc? v4 b64|u64|s64|f64
ldu      global? v2? $data ; global? v4 $small
lg2      approx ftz? f32
mad      lo|hi $int ; wide u16|s16|u32|s32 ; hi sat s32 ; lo|hi cc u32|s32|u64|s64 ; $round ftz? sat? f32 ; $round f64
madc     lo|hi cc? u32|s32|u64|s64
mad24    lo|hi u32|s32 ; hi sat s32
match    any|all sync b32|b64
max      $int|f64 ; ftz? NaN? f32 ; ftz? NaN? f16|f16x2
min      $int|f64 ; ftz? NaN? f32 ; ftz? NaN? f16|f16x2
mma      sync aligned m8n8k4 row.col|row.row|col.row|col.col f16.f16.f16.f16|f32.f16.f16.f32|f32.f16.f16.f16 ; sync aligned m8n8k4 row.col|row.row|col.row|col.col f32.bf16.bf16.f32|f32.tf32.tf32.f32 ; sync aligned m8n8k4 row.col $round? f64.f64.f64.f64 ; sync aligned m16n8k4|m16n8k8|m16n8k16 row.col $round? f64.f64.f64.f64 ; sync aligned m16n8k4|m16n8k8 row.col f32.tf32.tf32.f32 ; sync aligned m16n8k8 row.col f16.f16.f16.f16|f32.f16.f16.f32 ; sync aligned m16n8k16 row.col f16.f16.f16.f16|f32.f16.f16.f32 ; sync aligned m16n8k8|m16n8k16 row.col f32.bf16.bf16.f32 ; sync aligned m8n8k16 row.col satfinite? $bytes ; sync aligned m16n8k16|m16n8k32 row.col satfinite? $bytes ; sync aligned m8n8k32 row.col satfinite? $nibbles ; sync aligned m16n8k32|m16n8k64 row.col satfinite? $nibbles ; sync aligned m8n8k128 row.col xor popc s32.b1.b1.s32 ; sync aligned m8n8k128 row.col and popc s32.b1.b1.s32 ; sync aligned m16n8k128|m16n8k256 row.col xor|and popc s32.b1.b1.s32
mov      pred|b16|b32|b64|$int|f32|f64
mul      lo|hi $int ; wide u16|s16|u32|s32 ; $round? ftz? sat? f32 ; $round? f64 ; rn? ftz? sat? f16|f16x2
mul24    lo|hi u32|s32
neg      ftz? f32 ; f64 ; ftz? f16|f16x2 ; s16|s32|s64
not      pred|b16|b32|b64
or       pred|b16|b32|b64
popc     b32|b64
rcp      approx|$round ftz? f32 ; $round ftz? f64 ; approx ftz f64
red      relaxed|release? $scope? $shared? add u32|s32|u64|f32|f64 ; relaxed|release? $scope? $shared? noftz add f16|f16x2 ; relaxed|release? $scope? $shared? min|max u32|s32|u64|s64 ; relaxed|release? $scope? $shared? and|or|xor b32|b64 ; relaxed|release? $scope? $shared? inc|dec u32
redux    sync add|min|max u32|s32 ; sync and|or|xor b32 ; sync min|max abs? NaN? f32
rem      $int
rsqrt    approx ftz? f32|f64
sad      $int
selp     b16|b32|b64|$int|f32|f64
set      $equal|$order4 $logic? u32/s32/f32/f16.s16/s32/s64 ; $equal|$order4|lo|ls|hi|hs $logic? u32/s32/f32/f16.u16/u32/u64 ; $equal $logic? u32/s32/f32/f16.b16/b32/b64 ; $equal|$order4|$unordered $logic? ftz? u32/s32/f32/f16.f32 ; $equal|$order4|$unordered $logic? u32/s32/f32/f16.f64 ; $equal|$order4|$unordered $logic? ftz? u32/s32/u16/s16/f16.f16|u32/s32/f16x2.f16x2
setp     $equal|$order4 $logic? s16|s32|s64 ; $equal|$order4|lo|ls|hi|hs $logic? u16|u32|u64 ; $equal $logic? b16|b32|b64 ; $equal|$order4|$unordered $logic? ftz? f32 ; $equal|$order4|$unordered $logic? f64 ; $equal|$order4|$unordered $logic? ftz? f16|f16x2
shf      l|r wrap|clamp b32
shfl     sync? up|down|bfly|idx b32
shl      b16|b32|b64
shr      b16|b32|b64|$int
sin      approx ftz? f32
slct     $bits/$ints/f32/f64.s32 ; ftz? $bits/$ints/f32/f64.f32
sqrt     approx|$round ftz? f32 ; $round f64
st       weak? global|shared|local|param? wb|cg|cs|wt? v2? $data ; weak? global|shared|local|param? wb|cg|cs|wt? v4 $small ; volatile $space? v2? $data ; volatile $space? v4 $small ; relaxed|release $scope $shared? v2? $data ; relaxed|release $scope $shared? v4 $small ; $word? $scope? global $cache? v4 b64|u64|s64|f64
sub      $int ; sat? s32 ; cc u32|s32|u64|s64 ; $round? ftz? sat? f32 ; $round? f64 ; rn? ftz? sat? f16|f16x2
subc     cc? u32|s32|u64|s64
szext    wrap|clamp u32|s32
tanh     approx f32|f16|f16x2
testp    finite|infinite|number|notanumber|normal|subnormal f32|f64
vote     sync? all|any|uni pred ; sync? ballot b32
xor      pred|b16|b32|b64
`

// formMacros are lists of words that several rows share.
var formMacros = strings.NewReplacer(
	"$round", "rn|rz|rm|rp", "$integral", "rni|rzi|rmi|rpi",
	"$int|", "u16|u32|u64|s16|s32|s64|", "$int ", "u16|u32|u64|s16|s32|s64 ",
	"$ints", "u16/u32/u64/s16/s32/s64", "$bits", "b16/b32/b64", "$any", "u8/u16/u32/u64/s8/s16/s32/s64",
	"$data", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64", "$small", "b8|b16|b32|u8|u16|u32|s8|s16|s32|f32",
	"$space", "global|shared|local|const|param", "$shared", "global|shared", "$scope", "cta|gpu|sys",
	"$bytes", "s32.s8.s8.s32|s32.u8.u8.s32|s32.s8.u8.s32|s32.u8.s8.s32", "$nibbles", "s32.s4.s4.s32|s32.u4.u4.s32|s32.s4.u4.s32|s32.u4.s4.s32",
	"$cache", "ca|cg|cs|lu|cv|wb|wt", "$word", "weak|volatile|relaxed|acquire|release",
	"$equal", "eq|ne", "$order4", "lt|le|gt|ge", "$unordered", "equ|neu|ltu|leu|gtu|geu|num|nan", "$logic", "and|or|xor",
	"$order", "relaxed|acquire|release|acq_rel",
	// Conversions of integers to a type that holds all their values have no .sat.
	"$widening", "u8.u8|s8.s8|u16.u8/u16|s16.u8/s8/s16|u32.u8/u16/u32|s32.u8/s8/u16/s16/s32|u64.u8/u16/u32/u64|s64.u8/s8/u16/s16/u32/s32/s64",
	"$narrowing", "u8.s8/u16/s16/u32/s32/u64/s64|s8.u8/u16/s16/u32/s32/u64/s64|u16.s8/s16/u32/s32/u64/s64|s16.u16/u32/s32/u64/s64|u32.s8/s16/s32/u64/s64|s32.u32/u64/s64|u64.s8/s16/s32/s64|s64.u64",
)

// vocabulary is the set of words that forms are checked for, in addition to the words of
// the opcode's own row.
var vocabulary = wordSet("weak volatile relaxed acquire release acq_rel global shared local const param noftz exch cas rn rz rm rp approx full ftz sat lo hi wide cc to pred b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64")

// wordForm is one form: one word of each group, or none if the group is
// optional.
type wordForm struct {
	groups []wordGroup
}

// wordGroup is a set of words of which a form has one.
type wordGroup struct {
	words    map[string]bool
	optional bool
}

// wordForms are the forms of one opcode.
type wordForms struct {
	known map[string]bool // all words of the row
	pairs bool            // the opcode has two types
	parts map[string]bool // types and layouts of matrix products
	list  []wordForm
}

// wordSet returns the set of the words of a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// formTable holds formRows by opcode.
var formTable = func() map[string]*wordForms {
	table := map[string]*wordForms{}
	for line := range strings.Lines(formRows) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			table[name] = parseForms(formMacros.Replace(strings.TrimSpace(text) + " "))
		}
	}
	return table
}()

// parseForms parses a row of formRows: the forms of one opcode.
func parseForms(text string) *wordForms {
	forms := &wordForms{known: map[string]bool{}, parts: map[string]bool{}}
	for _, one := range strings.Split(text, ";") {
		var f wordForm
		for _, w := range strings.Fields(one) {
			// A '?' makes the whole group of alternatives optional.
			bare, optional := strings.CutSuffix(w, "?")
			g := wordGroup{words: groupWords(bare), optional: optional}
			for word := range g.words {
				forms.known[word] = true
				forms.pairs = forms.pairs || strings.Contains(word, ".")
				forms.addParts(word)
			}
			f.groups = append(f.groups, g)
		}
		forms.list = append(forms.list, f)
	}
	return forms
}

// addParts records the parts of a word that a matrix product joins: four types such as
// f32.f16.f16.f32, or two layouts such as row.col.
func (forms *wordForms) addParts(word string) {
	if parts := strings.Split(word, "."); len(parts) == 4 || parts[0] == "row" || parts[0] == "col" {
		for _, part := range parts {
			forms.parts[part] = true
		}
	}
}

// groupWords splits a group at '|', and expands a/b.c/d into all combinations.
func groupWords(group string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Split(group, "|") {
		first, second, pair := strings.Cut(w, ".")
		if !pair {
			set[w] = true
			continue
		}
		for _, a := range strings.Split(first, "/") {
			for _, b := range strings.Split(second, "/") {
				set[a+"."+b] = true
			}
		}
	}
	return set
}

// joinTypes joins the types of an opcode into one word, "s32.f32", and the
// layouts of a matrix product, "row.col".
func joinTypes(name string, suffix []string) []string {
	var list, types, layouts []string
	for _, s := range suffix {
		_, ok := ParseType(s)
		switch {
		// The types of mma include formats such as s4, which are not types of registers.
		case ok || name == "mma" && formatBits[s] > 0:
			types = append(types, s)
		case s == "row" || s == "col":
			layouts = append(layouts, s)
		default:
			list = append(list, s)
		}
	}
	if len(layouts) > 0 {
		list = append(list, strings.Join(layouts, "."))
	}
	return append(list, strings.Join(types, "."))
}

// typesLast puts the types of an opcode behind its modifiers if formRows covers both: the ISA
// has them there, and ptxas accepts add.s32.sat, too. Only mma has modifiers behind its types.
func typesLast(name string, suffix []string) []string {
	isType := func(s string) bool { _, ok := ParseType(s); return ok }
	// The common case is that nothing follows the types.
	first := slices.IndexFunc(suffix, isType)
	forms := formTable[name]
	switch {
	case forms == nil || name == "mma" || first < 0 || !slices.ContainsFunc(suffix[first:], func(s string) bool { return !isType(s) }):
		return suffix
	case !forms.covers(joinTypes(name, suffix)):
		return suffix
	}
	var modifiers, types []string
	for _, s := range suffix {
		if isType(s) {
			types = append(types, s)
		} else {
			modifiers = append(modifiers, s)
		}
	}
	return append(modifiers, types...)
}

// formFault describes what is wrong with the suffixes of an opcode. It returns "" if they are a
// form, or if they are newer than the table.
func formFault(word string, code opcode) string {
	forms := formTable[code.name]
	if forms == nil {
		return ""
	}
	suffix := joinTypes(code.name, code.suffix)
	if !forms.covers(suffix) {
		return ""
	}
	for _, f := range forms.list {
		if f.fits(suffix) {
			return ""
		}
	}
	return word + " does not exist; " + forms.closest(code.name, suffix)
}

// covers reports whether all suffixes are in the opcode's vocabulary: the words of its row and
// the common ones. A pair of types is covered if the opcode has pairs and both types are in it.
func (forms *wordForms) covers(suffix []string) bool {
	for _, s := range suffix {
		if len(forms.parts) > 0 && (matrixShape(s) || forms.products(s)) {
			continue
		}
		// joinTypes made one word of two types.
		first, second, pair := strings.Cut(s, ".")
		if forms.known[s] || !pair && vocabulary[s] || pair && forms.pairs && vocabulary[first] && vocabulary[second] {
			continue
		}
		return false
	}
	return true
}

// matrixShape reports whether a suffix is a shape such as m16n8k16.
func matrixShape(s string) bool {
	m, _, _ := MatrixShape(&Inst{Suffix: []string{s}})
	return m > 0
}

// products reports whether a word joins four types, or two layouts, each of
// which occurs in a form.
func (forms *wordForms) products(s string) bool {
	parts := strings.Split(s, ".")
	for _, part := range parts {
		if !forms.parts[part] && !vocabulary[part] {
			return false
		}
	}
	return len(parts) == 2 || len(parts) == 4
}

// fits reports whether the suffixes match this form, in any order.
func (f *wordForm) fits(suffix []string) bool {
	// Each group consumes at most one suffix. The form fits if every suffix was consumed.
	left := len(suffix)
	for _, g := range f.groups {
		n := 0
		for _, s := range suffix {
			if g.words[s] {
				n++
			}
		}
		if n > 1 || n == 0 && !g.optional {
			return false
		}
		left -= n
	}
	return left == 0
}

// closest describes the forms of an opcode for the type that it was given, for messages: "there
// is sqrt.rn|.rz|.rm|.rp.f64".
func (forms *wordForms) closest(name string, suffix []string) string {
	var list []string
	typ := suffix[len(suffix)-1]
	for _, f := range forms.list {
		if f.groups[len(f.groups)-1].words[typ] {
			list = append(list, f.text(name, typ))
		}
	}
	if len(list) == 0 {
		return name + " has no such type"
	}
	return "there is " + strings.Join(list, " and ")
}

// text writes a form, with [] around optional words.
func (f *wordForm) text(name, typ string) string {
	var b strings.Builder
	b.WriteString(name)
	for _, g := range f.groups[:len(f.groups)-1] {
		words := "." + strings.Join(inOrder(g.words), "|.")
		if g.optional {
			words = "[" + words + "]"
		}
		b.WriteString(words)
	}
	return b.String() + "." + typ
}

// order is the order in which the words of a group are listed.
var order = strings.Fields("sync weak volatile relaxed acquire release acq_rel cta gpu sys lo hi wide cc to approx full rn rz rm rp rni rzi rmi rpi " +
	"eq ne lt le gt ge ls hs equ neu ltu leu gtu geu num nan add min max and or xor exch cas inc dec all any uni ballot up down bfly idx l r wrap clamp " +
	"ftz noftz sat NaN const global local shared param ca cg cs lu cv wb wt nc v2 v4 shiftamt finite infinite number notanumber normal subnormal")

// inOrder returns the words of a set that messages list, in order.
func inOrder(words map[string]bool) (list []string) {
	for _, w := range order {
		if words[w] {
			list = append(list, w)
		}
	}
	return list
}
