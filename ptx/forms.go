package ptx

import (
	"fmt"
	"strings"
)

// formRows lists the forms of opcodes whose modifiers depend on the type, as ptxas
// 11.8 accepts them: an opcode, then its forms between ';'. A word of a form is
// required, one with '?' is optional, and a|b is either. @53 is the least target that
// has the form. $round stands for rn|rz|rm|rp, $int for the six integer types of 16 to
// 64 bits. A form that has a type or a modifier from outside its opcode's vocabulary
// is newer than this table and is not checked.
const formRows = `
abs      ftz? f32 ; f64 ; ftz? f16|f16x2 @53 ; s16|s32|s64
add      $int ; sat? s32 ; cc u32|s32|u64|s64 ; $round? ftz? sat? f32 ; $round? f64 ; rn? ftz? sat? f16|f16x2 @53
addc     cc? u32|s32|u64|s64
and      pred|b16|b32|b64
bfe      u32|u64|s32|s64
bfi      b32|b64
bfind    shiftamt? u32|u64|s32|s64
brev     b32|b64
clz      b32|b64
cnot     b16|b32|b64
copysign f32|f64
cos      approx ftz? f32
cvta     to? const|global|local|shared|param|shared::cta|shared::cluster|param::entry u32|u64
div      $int ; approx|full|$round ftz? f32 ; $round f64
ex2      approx ftz? f32 ; approx ftz? f16|f16x2 @75
fma      $round ftz? sat? f32 ; $round f64 ; rn ftz? sat? f16|f16x2 @53
lg2      approx ftz? f32
mad      lo|hi $int ; wide u16|s16|u32|s32 ; hi sat s32 ; lo|hi cc u32|s32|u64|s64 ; $round ftz? sat? f32 ; $round f64
madc     lo|hi cc? u32|s32|u64|s64
mad24    lo|hi u32|s32 ; hi sat s32
mul      lo|hi $int ; wide u16|s16|u32|s32 ; $round? ftz? sat? f32 ; $round? f64 ; rn? ftz? sat? f16|f16x2 @53
mul24    lo|hi u32|s32
neg      ftz? f32 ; f64 ; ftz? f16|f16x2 @53 ; s16|s32|s64
not      pred|b16|b32|b64
or       pred|b16|b32|b64
popc     b32|b64
rcp      approx|$round ftz? f32 ; $round ftz? f64 ; approx ftz f64
rem      $int
rsqrt    approx ftz? f32|f64
sad      $int
shl      b16|b32|b64
shr      b16|b32|b64|$int
sin      approx ftz? f32
sqrt     approx|$round ftz? f32 ; $round f64
sub      $int ; sat? s32 ; cc u32|s32|u64|s64 ; $round? ftz? sat? f32 ; $round? f64 ; rn? ftz? sat? f16|f16x2 @53
subc     cc? u32|s32|u64|s64
tanh     approx f32|f16|f16x2 @75
testp    finite|infinite|number|notanumber|normal|subnormal f32|f64
xor      pred|b16|b32|b64
`

// vocabulary is the words that a form of formRows is checked for, besides those of its
// own opcode.
var vocabulary = wordSet("rn rz rm rp approx full ftz sat lo hi wide cc to pred b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64")

// wordForm is one form: of each group one word, or none where the group is optional.
type wordForm struct {
	groups []wordGroup
	target int
}

type wordGroup struct {
	words    map[string]bool
	optional bool
}

type wordForms struct {
	known map[string]bool
	list  []wordForm
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// formTable holds formRows by opcode.
var formTable = func() map[string]*wordForms {
	macros := strings.NewReplacer("$round", "rn|rz|rm|rp", "$int", "u16|u32|u64|s16|s32|s64")
	table := map[string]*wordForms{}
	for line := range strings.Lines(formRows) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			table[name] = parseForms(macros.Replace(strings.TrimSpace(text)))
		}
	}
	return table
}()

func parseForms(text string) *wordForms {
	forms := &wordForms{known: map[string]bool{}}
	for _, one := range strings.Split(text, ";") {
		var f wordForm
		for _, w := range strings.Fields(one) {
			if n, ok := strings.CutPrefix(w, "@"); ok {
				_, _ = fmt.Sscan(n, &f.target)
				continue
			}
			bare, optional := strings.CutSuffix(w, "?")
			g := wordGroup{words: wordSet(strings.ReplaceAll(bare, "|", " ")), optional: optional}
			for word := range g.words {
				forms.known[word] = true
			}
			f.groups = append(f.groups, g)
		}
		forms.list = append(forms.list, f)
	}
	return forms
}

// formFault says what is wrong with the suffixes of an opcode on a target, "" when nothing
// is or when they are newer than the table.
func formFault(word string, code opcode, target int) string {
	forms := formTable[code.name]
	if forms == nil {
		return ""
	}
	types := 0
	for _, s := range code.suffix {
		if !vocabulary[s] && !forms.known[s] {
			return ""
		}
		if _, ok := ParseType(s); ok {
			types++
		}
	}
	if types > 1 { // of mixed precision
		return ""
	}
	for _, f := range forms.list {
		if !f.fits(code.suffix) {
			continue
		}
		if f.target > target {
			return fmt.Sprintf("%s needs .target sm_%d or later, and this module is for sm_%d", word, f.target, target)
		}
		return ""
	}
	return word + " does not exist; " + forms.closest(code)
}

// fits reports whether the suffixes are of this form, in any order.
func (f *wordForm) fits(suffix []string) bool {
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

// closest describes the forms of an opcode with the type that it was given.
func (forms *wordForms) closest(code opcode) string {
	var list []string
	for _, f := range forms.list {
		for _, s := range code.suffix {
			if _, ok := ParseType(s); ok && f.groups[len(f.groups)-1].words[s] {
				list = append(list, f.text(code.name, s))
			}
		}
	}
	if len(list) == 0 {
		return code.name + " has no such type"
	}
	return "there is " + strings.Join(list, " and ")
}

// text writes a form, with [] around what may be left out.
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

// order is how the words of a group are listed.
var order = strings.Fields("lo hi wide cc to approx full rn rz rm rp ftz sat const global local shared param shiftamt finite infinite number notanumber normal subnormal")

func inOrder(words map[string]bool) (list []string) {
	for _, w := range order {
		if words[w] {
			list = append(list, w)
		}
	}
	return list
}
