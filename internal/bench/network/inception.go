package network

// inceptionV3 is the network of Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, "Rethinking the Inception architecture
// for computer vision", CVPR 2016, without its auxiliary classifier. Modules are those of figures 5 to 7 and 10. The
// branches that split again at 8 by 8 end in the concatenation of the module.
func inceptionV3(t *tape) {
	x := t.unit(t.image(299), 32, valid(3, 2))
	x = t.unit(x, 32, valid(3, 1))
	x = t.unit(x, 64, same(3, 1))
	x = t.pool(x, valid(3, 2))
	x = t.unit(x, 80, valid(1, 1))
	x = t.unit(x, 192, valid(3, 1))
	x = t.pool(x, valid(3, 2))
	for _, c := range []int{32, 64, 64} {
		x = t.inception35(x, c)
	}
	x = t.concat(
		t.unit(x, 384, valid(3, 2)),
		t.unit(t.unit(t.unit(x, 64, valid(1, 1)), 96, same(3, 1)), 96, valid(3, 2)),
		t.pool(x, valid(3, 2)))
	for _, c := range []int{128, 160, 160, 192} {
		x = t.inception17(x, c)
	}
	x = t.concat(
		t.unit(t.unit(x, 192, valid(1, 1)), 320, valid(3, 2)),
		t.unit(t.row(t.unit(x, 192, valid(1, 1)), 192, 192), 192, valid(3, 2)),
		t.pool(x, valid(3, 2)))
	for range 2 {
		x = t.inception8(x)
	}
	t.linear(t.globalPool(x), 1000)
}

// unit is a convolution and its ReLU.
func (t *tape) unit(x tensor, c int, w window) tensor { return t.relu(t.conv(x, c, w)) }

// row is a 7x7 convolution as 1x7 and 7x1, and column as 7x1 and 1x7.
func (t *tape) row(x tensor, mid, c int) tensor {
	return t.unit(t.unit(x, mid, flat(1, 7, 1, 1)), c, flat(7, 1, 1, 1))
}

func (t *tape) column(x tensor, mid, c int) tensor {
	return t.unit(t.unit(x, mid, flat(7, 1, 1, 1)), c, flat(1, 7, 1, 1))
}

// inception35 works on 35 by 35 pixels, with two 3x3 convolutions for a 5x5.
func (t *tape) inception35(x tensor, pooled int) tensor {
	return t.concat(
		t.unit(x, 64, valid(1, 1)),
		t.unit(t.unit(x, 48, valid(1, 1)), 64, same(5, 1)),
		t.unit(t.unit(t.unit(x, 64, valid(1, 1)), 96, same(3, 1)), 96, same(3, 1)),
		t.unit(t.pool(x, same(3, 1)), pooled, valid(1, 1)))
}

// inception17 works on 17 by 17 pixels, with 7x7 convolutions in two steps.
func (t *tape) inception17(x tensor, c int) tensor {
	return t.concat(
		t.unit(x, 192, valid(1, 1)),
		t.row(t.unit(x, c, valid(1, 1)), c, 192),
		t.column(t.column(t.unit(x, c, valid(1, 1)), c, c), c, 192),
		t.unit(t.pool(x, same(3, 1)), 192, valid(1, 1)))
}

// inception8 works on 8 by 8 pixels, where two branches split into a row and a column.
func (t *tape) inception8(x tensor) tensor {
	split := func(y tensor) (row, column tensor) {
		return t.unit(y, 384, flat(1, 3, 1, 1)), t.unit(y, 384, flat(3, 1, 1, 1))
	}
	one := t.unit(x, 320, valid(1, 1))
	a, b := split(t.unit(x, 384, valid(1, 1)))
	c, d := split(t.unit(t.unit(x, 448, valid(1, 1)), 384, same(3, 1)))
	return t.concat(one, a, b, c, d, t.unit(t.pool(x, same(3, 1)), 192, valid(1, 1)))
}
