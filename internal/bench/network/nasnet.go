package network

// nasNetAMobile and nasNetALarge are NASNet-A (4 @ 1056) and (6 @ 4032) of Zoph, Vasudevan, Shlens and Le, "Learning
// transferable architectures for scalable image recognition", CVPR 2018, figure 4, as PyTorch runs the weights
// published for TensorFlow. TensorFlow pads some images on one side only. PyTorch replaces that by a row and a column
// of zeros before the operation, and cuts off the first row and column of its output.
//
//	image ─► conv ─► two reductions ─► cells ─► reduction ─► cells ─► reduction ─► cells
func nasNetAMobile(t *tape) {
	nasNet{t, true}.pass(224, 32, 4, 1056, false)
}

func nasNetALarge(t *tape) {
	nasNet{t, false}.pass(331, 96, 6, 4032, true)
}

// nasNet is a tape with the cells of NASNet.
type nasNet struct {
	*tape
	copies bool // copy the cut output of a pool, so that it is contiguous
}

// pass adds the network. Its arguments are the channels of the first convolution, the cells in each of three groups,
// and the final channels. With skip, the cell after a reduction reads the input of the reduction instead of its
// output.
func (t nasNet) pass(image, first, cells, last int, skip bool) {
	filters := last / 24
	conv := t.conv(t.image(image), first, valid(3, 2))
	stem0 := t.nasReduction(conv, t.nasSqueeze(conv, filters/4))
	stem1 := t.nasReduction(t.nasFactorized(conv, filters/2), t.nasSqueeze(stem0, filters/2))

	before, x := stem0, stem1
	for group := range 3 {
		c := filters << group
		if group > 0 {
			reduced := t.nasReduction(t.nasSqueeze(before, c), t.nasSqueeze(x, c))
			if !skip {
				before = x
			}
			x = reduced
		}
		for i := range cells {
			prepare := t.nasSqueeze
			if i == 0 { // the earlier input is twice as high and wide
				prepare = t.nasFactorized
			}
			before, x = x, t.nasNormal(prepare(before, c), t.nasSqueeze(x, c))
		}
	}
	t.linear(t.globalPool(t.relu(x)), 1000)
}

// nasSqueeze reduces an input of a cell to c channels.
func (t nasNet) nasSqueeze(x tensor, c int) tensor { return t.conv(t.relu(x), c, valid(1, 1)) }

// nasFactorized does the same and halves the image, by every other pixel of two grids.
func (t nasNet) nasFactorized(x tensor, c int) tensor {
	x = t.relu(x)
	even := t.conv(t.pool(x, valid(1, 2)), c/2, valid(1, 1))
	odd := t.conv(t.pool(t.cut(t.pad(x)), valid(1, 2)), c/2, valid(1, 1))
	return t.concat(even, odd)
}

// nasNormal is the cell that keeps the size of the image.
func (t nasNet) nasNormal(left, right tensor) tensor {
	sum0 := t.add(t.separable(right, 5, 1), t.separable(left, 3, 1))
	sum1 := t.add(t.separable(left, 5, 1), t.separable(left, 3, 1))
	sum2 := t.add(t.pool(right, same(3, 1)), left)
	sum3 := t.add(t.pool(left, same(3, 1)), t.pool(left, same(3, 1)))
	sum4 := t.add(t.separable(right, 3, 1), right)
	return t.concat(left, sum0, sum1, sum2, sum3, sum4)
}

// nasReduction is the cell that halves the image.
func (t nasNet) nasReduction(left, right tensor) tensor {
	oneSided := right.h%2 == 0 // otherwise padding is symmetric
	sep := func(x tensor, k, stride int) tensor { return t.nasSeparable(x, right.c, k, stride, oneSided) }
	pool := func() tensor { return t.nasPool(right, oneSided) }
	sum0 := t.add(sep(right, 5, 2), sep(left, 7, 2))
	sum1 := t.add(pool(), sep(left, 7, 2))
	sum2 := t.add(pool(), sep(left, 5, 2))
	sum3 := t.add(t.pool(sum0, same(3, 1)), sum1)
	sum4 := t.add(sep(sum0, 3, 1), pool())
	return t.concat(sum1, sum2, sum3, sum4)
}

// nasSeparable is a ReLU and a separable convolution to c channels, applied twice.
func (t nasNet) nasSeparable(x tensor, c, k, stride int, oneSided bool) tensor {
	x = t.relu(x)
	if oneSided {
		x = t.pad(x)
	}
	x = t.conv(t.depthwise(x, same(k, stride)), c, valid(1, 1))
	if oneSided {
		x = t.contiguous(t.cut(x))
	}
	return t.conv(t.depthwise(t.relu(x), same(k, 1)), c, valid(1, 1))
}

func (t nasNet) nasPool(x tensor, oneSided bool) tensor {
	if !oneSided {
		return t.pool(x, same(3, 2))
	}
	x = t.cut(t.pool(t.pad(x), same(3, 2)))
	if !t.copies {
		return x
	}
	return t.contiguous(x)
}
