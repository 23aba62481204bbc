package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// opRow describes an opcode, or one form of it, for the checker: its operands, types and
// modifiers. For example, the row
//
//	mad            waav     if    lo hi wide sat cc $round ftz
//
// describes mad.lo.s32 d, a, b, c: four operands w, a, a and v, types of the families i and f,
// and the modifiers that mad may have.
//
// Each letter of args is an operand; those after '[' are optional.
//
//	d  destination of the first type suffix     a  source of the last type suffix
//	D  the same, register may be wider          A  the same, register may be wider
//	w  destination, twice as wide for .wide     v  source, twice as wide for .wide
//	e  source of the first type suffix          c  32-bit destination
//	q  predicate destination, or p|q            u  32-bit source
//	p  predicate source                         m  memory
//	g  address in a register                    k  cache policy, 64 bits
//	l  label                                    t  memory with the coordinates of a texture or surface
//	V  fragment of a matrix                     x  anything
//
// The letters of types are the families that the opcode is defined for; "" stands for no type
// and "*" for any.
//
//	p  pred     8  8-bit     i  u16 … s64     b  b16 … b64     B  b128
//	f  f32 f64  h  f16 f16x2 bf16 bf16x2
//	s  u16x2 s16x2 f32x2
type opRow struct {
	with        [][]string // the form: the opcode has a suffix of each list
	args, types string
	modifiers   map[string]bool
	prefixes    []string // modifiers written "L2::*"
}

// opRows lists the ISA up to version 8.8, one opcode per line: name, operands, types,
// modifiers, with "-" for none and $name for a set of opSets. A line "cvt+pack" is for the form
// of cvt with the suffix .pack, "+e4m3x2|e5m2x2" for one with either suffix. The line with the
// most matching suffixes applies. If the operands are x…, the form is irregular: its types or
// counts depend on more than this table contains, and the simulator checks it.
//
// The opcodes are those of these sections of the chapter "Instruction Set" of the PTX ISA; the
// list below names one or two of each:
//
//	Integer Arithmetic                        add mad24 dp4a bfi
//	Extended-Precision Integer Arithmetic     addc madc, and the modifier cc
//	Floating-Point, Half Precision            fma ex2, the types f and h
//	Comparison and Selection                  set setp selp slct
//	Logic and Shift                           lop3 shf
//	Data Movement and Conversion              ld st cvt shfl prmt cp.async mapa
//	Texture, Surface                          tex txq suld sust
//	Control Flow                              bra brx call ret exit
//	Parallel Synchronization, Communication   bar atom vote mbarrier elect
//	Warp-Level Matrix                         wmma mma ldmatrix
//	Asynchronous Warpgroup-Level Matrix       wgmma
//	TensorCore 5th Generation                 tcgen05
//	Stack Manipulation                        alloca
//	Video                                     vadd vadd2 vadd4
//	Miscellaneous                             brkpt nanosleep trap
//
// An opcode without a line does not exist in a module up to that version, and neither does a
// modifier that the opcode's line does not name: the load fails. In a module of a later version
// they are not checked, and the launch of a kernel that has them is refused.
const opRows = `
abs            da       ifh   ftz
activemask     d        b
add            dae      ifhs  $round ftz sat cc
addc           daa      i     cc
alloca         da[x     ib
and            daa      pb
applypriority  mx       -     global L2::*
atom           dma      ibfhB $atomic
atom+cas       dmaa     ibfhB $atomic
atom+cas+b128+L2::cache_hint dmaak B $atomic
atom+L2::cache_hint dmak ibfhB $atomic
bar            [uu      -     sync arrive cta aligned
bar+red        du[xx    pi    red and or popc cta aligned
bar+warp       u        -     warp sync
barrier        [uu      -     sync arrive cta aligned
barrier+cluster -       -     cluster arrive wait aligned relaxed acquire release
barrier+red    du[xx    pi    red and or popc cta aligned
bfe            dauu     i
bfi            daauu    b
bfind          ca       i     shiftamt
bmsk           daa      b     clamp wrap
bra            l        -     uni
brev           da       b
brkpt          -        -
brx            ux       -     idx uni
call           [xxxx    -     uni
clusterlaunchcontrol [xx B    $anything
clz            ca       b
cnot           da       b
copysign       daa      f
cos            da       f     approx ftz
cp+async       mmx[xx   -     async ca cg $spaces L2::*
cp+async+bulk  mmx[xxxx -     async bulk $bulk
cp+async+bulk+prefetch mx[x - async bulk prefetch L2 $spaces L2::*
cp+async+bulk+tensor xx[xxxxx - async bulk tensor prefetch L2 $bulk $tensor
cp+async+commit_group - -     async commit_group
cp+async+bulk+commit_group - - async bulk commit_group
cp+async+bulk+wait_group x -  async bulk wait_group read
cp+async+mbarrier m     b     async mbarrier arrive noinc $spaces
cp+async+wait_all -     -     async wait_all
cp+async+wait_group x   -     async wait_group
cp+reduce+async+bulk mmx[xxxx ibfh async bulk reduce noftz $bulk $reduce
cp+reduce+async+bulk+tensor xm[xx - async bulk tensor reduce $bulk $tensor $reduce
createpolicy+cvt       da     b  cvt L2
createpolicy+fractional d[x   b  fractional L2::*
createpolicy+range     dmuu   b  range $spaces L2::*
cvt            DA[A     8ifh  $round rni rzi rmi rpi ftz sat relu satfinite
cvt+e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2|ue8m0x2|e4m3x4|e5m2x4|e2m1x4|e2m3x4|e3m2x4 xx[xx * $round rs relu satfinite scaled::* $narrow
cvt+pack       cuu[u    8ib   pack sat $narrow
cvt+rna        DA       8fhb  rna relu satfinite $narrow
cvt+rs         DA[Au    8fhb  rs relu satfinite
cvt+tf32       cA       f     $round rna relu satfinite tf32
cvta           da       i     to $spaces
discard        mx       -     global L2
div            daa      if    approx full ftz $round
dp2a           cuuu     i     lo hi
dp4a           cuuu     i
elect          xu       -     sync
ex2            da       fh    approx ftz
exit           -        -
fence          [xx      -     sc acq_rel acquire release proxy alias generic mbarrier_init $scope async* sync_restrict::* op_restrict::* tensormap::* $spaces
fma            daae     fhs   $round ftz sat relu oob
fns            duuu     b
getctarank     cx       i     $spaces
griddepcontrol -        -     launch_dependents wait
isspacep       qg       -     $spaces
istypep        qx       -     texref samplerref surfref
ld             Dm       8ibfhB $memory
ld+L2::cache_hint Dmk   8ibfhB $memory
ldmatrix       Vm       *     sync aligned num $matrix x1 x2 x4 trans $spaces
ldu            Dm       8ibfhB global v2 v4
lg2            da       f     approx ftz
lop3           daaax    b
lop3+and|or|xor xaaax[p b     and or xor
mad            waav     if    lo hi wide sat cc $round ftz
mad24          daaa     i     lo hi sat
madc           daaa     i     lo hi cc
mapa           dxu      i     $spaces
match          cau      b     any all sync
max            daa[a    ifhs  ftz NaN xorsign abs relu
mbarrier+arrive|arrive_drop xm[u b arrive arrive_drop noComplete expect_tx release relaxed $scope $spaces
mbarrier+init|expect_tx|complete_tx mu b init expect_tx complete_tx relaxed $scope $spaces
mbarrier+inval m        b     inval $spaces
mbarrier+pending_count xx b   pending_count
mbarrier+test_wait|try_wait qmx[u b test_wait try_wait parity acquire relaxed $scope $spaces
membar         -        -     cta gl sys
membar+proxy   -        -     proxy alias async*
min            daa[a    ifhs  ftz NaN xorsign abs relu
mma            VVVV[xxxxxx *  sync aligned sp sp::* row col satfinite and xor popc kind::* block_scale scale_vec::* $round $matrix $narrow ue8m0 ue4m3
mov            da       pibBfh v2 v4
movmatrix      cu       b     sync aligned trans $matrix
mul            waa      ifhs  lo hi wide $round ftz sat
mul24          daa      i     lo hi
multimem       [xxx     ibfh  ld_reduce st red acc::* $memory $reduce $narrow
nanosleep      u        i
neg            da       ifh   ftz
not            da       pb
or             daa      pb
pmevent        x        -     mask
popc           ca       b
prefetch       m        -     L1 L2 tensormap $spaces L2::*
prefetchu      m        -     L1
prmt           daaa     b     f4e b4e rc8 ecl ecr rc16
rcp            da       f     approx ftz $round
red            ma       ibfhB $atomic
red+L2::cache_hint mak  ibfhB $atomic
red+async      mam      ibfh  async mbarrier::* $atomic
redux          dau      ibf   sync add min max and or xor abs NaN
rem            daa      i
ret            -        -     uni
rsqrt          da       f     approx ftz
sad            daaa     i
selp           daap     ibfh
set            daa[p    ibfh  $compare ftz
setmaxnreg     x        i     inc dec sync aligned
setp           qaa[p    ibfh  $compare ftz
shf            daau     b     l r wrap clamp
shfl           daee[e   b     sync up down bfly idx
shl            dau      b
shr            dau      bi
sin            da       f     approx ftz
slct           deea     ibf   ftz
sqrt           da       f     approx ftz $round
st             mA       8ibfhB $memory
st+L2::cache_hint mAk   8ibfhB $memory
st+async       mAm      ibfh  async mbarrier::* $memory
st+bulk        mx[x     -     bulk $memory
stackrestore   a        ib
stacksave      d        ib
stmatrix       mV       *     sync aligned $matrix x1 x2 x4 trans $spaces
sub            dae      ifhs  $round ftz sat cc
subc           daa      i     cc
suld           Dt       8b    b $geometry $clamp $cache v2 v4
suq            cm       b     width height depth channel_data_type channel_order array_size memory_layout
sured          tA       bi    b p add min max and or $geometry $clamp
sust           tA       8b    b p $geometry $clamp $cache v2 v4
sust+p         tA       b     p $geometry $clamp $cache v2 v4
szext          dau      i     clamp wrap
tanh           da       fh    approx
tcgen05        [xxxxxxxx *    $anything
tensormap      mx[x     *     $anything
testp          qa       f     finite infinite number notanumber normal subnormal
tex            dt[xxx   ifh   $geometry v2 v4
tex+base       dt[xx    ifh   base $geometry v2 v4
tex+grad       dtxx[xx  ifh   grad $geometry v2 v4
tex+level      dtx[xx   ifh   level $geometry v2 v4
tld4           dt[xx    ifh   r g b a $geometry v2 v4
trap           -        -
txq            cm       b     width height depth channel_data_type channel_order normalized_coords force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2 array_size num_mipmap_levels num_samples
txq+level      cmu      b     level width height depth
vabsdiff       cuu[u    i     sat add min max
vadd           cuu[u    i     sat add min max
vmad           cuuu     i     sat po shr7 shr15
vmax           cuu[u    i     sat add min max
vmin           cuu[u    i     sat add min max
vset           cuu[u    i     $compare add min max
vshl           cuu[u    i     sat wrap clamp add min max
vshr           cuu[u    i     sat wrap clamp add min max
vsub           cuu[u    i     sat add min max
vabsdiff2      cuuu     i     sat add
vabsdiff4      cuuu     i     sat add
vadd2          cuuu     i     sat add
vadd4          cuuu     i     sat add
vavrg2         cuuu     i     sat add
vavrg4         cuuu     i     sat add
vmax2          cuuu     i     sat add
vmax4          cuuu     i     sat add
vmin2          cuuu     i     sat add
vmin4          cuuu     i     sat add
vset2          cuuu     i     $compare add
vset4          cuuu     i     $compare add
vsub2          cuuu     i     sat add
vsub4          cuuu     i     sat add
vote           dp[u     pb    sync all any uni ballot
wgmma          [x       -     fence commit_group wait_group sync aligned
wgmma+mma_async xxx[xxxxxxx *   mma_async sp sync aligned satfinite and popc $matrix $narrow
wmma+load      Vm[u     *     load a b c sync aligned row col $matrix $narrow $spaces
wmma+mma       VVVV     *     mma sync aligned row col satfinite and xor popc $round $matrix $narrow
wmma+store     mV[u     *     store d sync aligned row col $matrix $spaces
xor            daa      pb
`

// opSets are lists of modifiers that several rows share.
var opSets = map[string]string{
	"anything": "*",
	"round":    "rn rz rm rp",
	"scope":    "cta cluster gpu sys",
	"spaces":   "const global local param param::entry param::func shared shared::cta shared::cluster",
	"cache":    "ca cg cs cv lu wb wt nc",
	"memory": "const global local param param::entry param::func shared shared::cta shared::cluster " +
		"weak volatile relaxed acquire release mmio cta cluster gpu sys ca cg cs cv lu wb wt nc v2 v4 v8 L1::* L2::* unified",
	"reduce": "add min max and or xor inc dec",
	"atomic": "add min max and or xor inc dec exch cas noftz relaxed acquire release acq_rel cta cluster gpu sys " +
		"global shared shared::cta shared::cluster v2 v4 v8 L2::cache_hint",
	"compare":  "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor",
	"bulk":     "const global shared::cta shared::cluster mbarrier::* bulk_group multicast::* cp_mask L2::* cta_group::*",
	"tensor":   "1d 2d 3d 4d 5d tile tile::* im2col im2col::* im2col_no_offs",
	"geometry": "1d 2d 3d a1d a2d cube acube 2dms a2dms",
	"clamp":    "trap clamp zero",
	"matrix":   "m8n* m16n* m32n* m64n* b8 b8x16* b6x16* b4x16* num",
	"narrow":   "tf32 e4m3 e5m2 e3m2 e2m3 e2m1 e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 ue8m0x2 e4m3x4 e5m2x4 e2m1x4 e2m3x4 e3m2x4 s4 u4 s2 u2 b1 b8x16",
}

// opTable holds the rows of each opcode, the most specific form first.
var opTable = func() map[string][]*opRow {
	table := map[string][]*opRow{}
	for line := range strings.Lines(opRows) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		name, row := parseOpRow(fields)
		at := 0
		for at < len(table[name]) && len(table[name][at].with) >= len(row.with) {
			at++
		}
		table[name] = append(table[name][:at], append([]*opRow{row}, table[name][at:]...)...)
	}
	return table
}()

// parseOpRow parses the fields of one line of opRows.
func parseOpRow(fields []string) (name string, row *opRow) {
	if len(fields) < 3 {
		panic(fmt.Sprintf("BUG: row %q of the instruction table has no operands or no types", fields))
	}
	words := strings.Split(fields[0], "+")
	row = &opRow{modifiers: map[string]bool{}}
	for _, w := range words[1:] {
		row.with = append(row.with, strings.Split(w, "|"))
	}
	row.args, row.types = strings.Trim(fields[1], "-"), strings.Trim(fields[2], "-")
	for _, m := range append(words[1:], fields[3:]...) {
		row.allow(m)
	}
	return words[0], row
}

// allow adds a modifier, the alternatives of a form, or a set.
func (r *opRow) allow(m string) {
	if set, ok := strings.CutPrefix(m, "$"); ok {
		list, known := opSets[set]
		if !known {
			panic("BUG: the instruction table names no set " + set)
		}
		for _, m := range strings.Fields(list) {
			r.allow(m)
		}
		return
	}
	for _, m := range strings.Split(m, "|") {
		if prefix, ok := strings.CutSuffix(m, "*"); ok {
			r.prefixes = append(r.prefixes, prefix)
		} else {
			r.modifiers[m] = true
		}
	}
}

// takes reports whether the row has a suffix that is not a type.
func (r *opRow) takes(suffix string) bool {
	if r.modifiers[suffix] {
		return true
	}
	for _, p := range r.prefixes {
		if strings.HasPrefix(suffix, p) {
			return true
		}
	}
	return false
}

// findRow returns the row of an opcode, or nil.
func findRow(name string, suffix []string) *opRow {
	for _, r := range opTable[name] {
		if r.fits(suffix) {
			return r
		}
	}
	return nil
}

// fits reports whether the suffixes contain one of each list of r.with.
func (r *opRow) fits(suffix []string) bool {
	for _, alternatives := range r.with {
		found := false
		for _, s := range suffix {
			for _, w := range alternatives {
				found = found || s == w
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// unknown returns the first suffix that the row does not have, or "". Any type is known if the
// row has types; typeFault checks it.
func (r *opRow) unknown(suffix []string) string {
	for _, s := range suffix {
		if _, isType := ParseType(s); isType && r.types != "" || r.takes(s) {
			continue
		}
		return s
	}
	return ""
}

// lastVersion is the ISA that opRows lists, as 100*major+minor.
const lastVersion = 808

// missingFault describes an opcode or a modifier that no ISA up to lastVersion has. It returns
// "" if the row has all of them, and in a module of a later version, whose opcodes may be newer
// than opRows.
func missingFault(word string, code opcode, row *opRow, m *Module) string {
	switch {
	case m.version() > lastVersion:
		return ""
	case len(opTable[code.name]) == 0:
		return fmt.Sprintf("%s does not exist; PTX has no instruction %s", word, code.name)
	case row == nil:
		return fmt.Sprintf("%s does not exist; %s has other forms", word, code.name)
	}
	if s := row.unknown(code.suffix); s != "" {
		return fmt.Sprintf("%s does not exist; %s has no modifier .%s", word, code.name, s)
	}
	return ""
}

// Unknown returns the part of the instruction's opcode that is not in the instruction table:
// "the opcode", or "modifier .name". It is "" if the parser checked the instruction.
func (in *Inst) Unknown() string {
	row := findRow(in.Name, in.Suffix)
	if row == nil {
		return "the opcode"
	}
	if s := row.unknown(in.Suffix); s != "" {
		return "modifier ." + s
	}
	return ""
}

// family returns the letter of opRow.types for t.
func (t Type) family() byte {
	switch {
	case t == Pred:
		return 'p'
	case t == B8 || t == U8 || t == S8:
		return '8'
	case t == B128:
		return 'B'
	case t <= B64:
		return 'b'
	case t <= S64:
		return 'i'
	case t <= BF16X2:
		return 'h'
	case t >= U16X2:
		return 's'
	}
	return 'f'
}

// NamesMemory reports whether some form of an opcode has an operand in memory.
func NamesMemory(opcode string) bool {
	return slices.ContainsFunc(opTable[opcode], func(r *opRow) bool { return strings.ContainsAny(r.args, "mt") })
}
