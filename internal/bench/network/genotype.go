package network

// genotype is a cell in the notation of architecture searches (Liu, Simonyan and Yang, "DARTS: differentiable
// architecture search", ICLR 2019, whose network for ImageNet this is). It is a list of sums of two branches, each
// applied to one of the two inputs or to an earlier sum, and the list of sums that form the output. In a reduction,
// branches on inputs halve the image.
type genotype struct {
	normal, reduction cell
}

type cell struct {
	sums []pair
	out  []int // indices of inputs (0 and 1) and sums (from 2)
}

// pair is a sum of two branches.
type pair [2]branch

type branch struct {
	op   func(t *tape, x tensor, stride int) tensor
	from int
}

// darts has the second-order cells of figures 4 and 5 of the paper.
func darts(t *tape) {
	t.evolved(genotype{
		normal: cell{out: []int{2, 3, 4, 5}, sums: []pair{
			{{sep3, 0}, {sep3, 1}},
			{{sep3, 0}, {sep3, 1}},
			{{sep3, 1}, {skip, 0}},
			{{skip, 0}, {dilated3, 2}},
		}},
		reduction: cell{out: []int{2, 3, 4, 5}, sums: []pair{
			{{pool3, 0}, {pool3, 1}},
			{{skip, 2}, {pool3, 1}},
			{{pool3, 0}, {skip, 2}},
			{{skip, 2}, {pool3, 1}},
		}},
	})
}

// amoebaNetA has the cells of Real, Aggarwal, Huang and Le, "Regularized evolution for image classifier architecture
// search", AAAI 2019, in the network of DARTS, as in the comparison of that paper.
func amoebaNetA(t *tape) {
	t.evolved(genotype{
		normal: cell{out: []int{4, 5, 6}, sums: []pair{
			{{pool3, 0}, {pool3, 1}},
			{{sep3, 0}, {sep5, 2}},
			{{sep3, 0}, {pool3, 3}},
			{{sep3, 1}, {skip, 1}},
			{{skip, 0}, {pool3, 1}},
		}},
		reduction: cell{out: []int{3, 4, 6}, sums: []pair{
			{{pool3, 0}, {sep3, 1}},
			{{pool3, 0}, {sep7, 2}},
			{{sep7, 0}, {pool3, 1}},
			{{pool3, 0}, {pool3, 1}},
			{{cross7, 0}, {sep3, 5}},
		}},
	})
}

// evolved is the network around the cells: a stem that halves the image three times, then 14 cells with initially 48
// channels, two of them reductions.
func (t *tape) evolved(g genotype) {
	const channels, cells = 48, 14
	s0 := t.relu(t.conv(t.image(224), channels/2, same(3, 2)))
	s0 = t.conv(s0, channels, same(3, 2))
	s1 := t.conv(t.relu(s0), channels, same(3, 2))
	c, halved := channels, true
	for i := range cells {
		reduction := i == cells/3 || i == 2*cells/3
		kind := g.normal
		if reduction {
			c *= 2
			kind = g.reduction
		}
		s0, s1 = s1, t.cell(kind, s0, s1, c, reduction, halved)
		halved = reduction
	}
	t.linear(t.globalPool(s1), 1000)
}

// cell is one cell with c channels over the outputs of the previous two. If the last cell halved the image, the
// output of the one before it is halved as well.
func (t *tape) cell(k cell, before, last tensor, c int, reduction, halved bool) tensor {
	x0 := before
	if halved {
		x0 = t.factorized(x0, c)
	} else {
		x0 = t.conv(t.relu(x0), c, valid(1, 1))
	}
	states := []tensor{x0, t.conv(t.relu(last), c, valid(1, 1))}
	run := func(b branch) tensor {
		stride := 1
		if reduction && b.from < 2 {
			stride = 2
		}
		return b.op(t, states[b.from], stride)
	}
	for _, p := range k.sums {
		left := run(p[0])
		states = append(states, t.add(left, run(p[1])))
	}
	var out []tensor
	for _, i := range k.out {
		out = append(out, states[i])
	}
	return t.concat(out...)
}

// factorized halves an image by two convolutions of stride 2, one of which is shifted by a row and a column.
func (t *tape) factorized(x tensor, c int) tensor {
	x = t.relu(x)
	even := t.conv(x, c/2, valid(1, 2))
	odd := t.conv(t.cut(x), c/2, valid(1, 2))
	return t.concat(even, odd)
}

func pool3(t *tape, x tensor, stride int) tensor { return t.pool(x, same(3, stride)) }

func skip(t *tape, x tensor, stride int) tensor {
	if stride == 1 {
		return x
	}
	return t.factorized(x, x.c)
}

func sep3(t *tape, x tensor, stride int) tensor { return t.separable(x, 3, stride) }
func sep5(t *tape, x tensor, stride int) tensor { return t.separable(x, 5, stride) }
func sep7(t *tape, x tensor, stride int) tensor { return t.separable(x, 7, stride) }

// separable is a ReLU and a separable convolution, applied twice.
func (t *tape) separable(x tensor, k, stride int) tensor {
	for _, s := range []int{stride, 1} {
		x = t.conv(t.depthwise(t.relu(x), same(k, s)), x.c, valid(1, 1))
	}
	return x
}

// dilated3 is a separable 3x3 convolution with dilation 2.
func dilated3(t *tape, x tensor, stride int) tensor {
	return t.conv(t.depthwise(t.relu(x), same(3, stride)), x.c, valid(1, 1))
}

// cross7 is a 7x7 convolution as 1x7 and 7x1.
func cross7(t *tape, x tensor, stride int) tensor {
	x = t.conv(t.relu(x), x.c, flat(1, 7, 1, stride))
	return t.conv(x, x.c, flat(7, 1, stride, 1))
}
