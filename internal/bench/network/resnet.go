package network

// resNet50 is the network with 50 layers of He, Zhang, Ren and Sun, "Deep residual learning for image recognition",
// CVPR 2016, with the stride in the middle convolution of a bottleneck, as in current implementations.
//
//	x ─┬─► 1x1 ─► 3x3 ─► 1x1 ─► + ─►
//	   └────────────────────────┘     or a 1x1, where the shape changes
func resNet50(t *tape) {
	x := t.relu(t.conv(t.image(224), 64, window{7, 7, 2, 2, 3, 3}))
	x = t.pool(x, same(3, 2))
	for stage, blocks := range []int{3, 4, 6, 3} {
		for i := range blocks {
			stride := 1
			if i == 0 && stage > 0 {
				stride = 2
			}
			x = t.bottleneck(x, 64<<stage, stride, i == 0)
		}
	}
	t.linear(t.globalPool(x), 1000)
}

func (t *tape) bottleneck(x tensor, c, stride int, project bool) tensor {
	y := t.relu(t.conv(x, c, valid(1, 1)))
	y = t.relu(t.conv(y, c, same(3, stride)))
	y = t.conv(y, 4*c, valid(1, 1))
	if project {
		x = t.conv(x, 4*c, valid(1, stride))
	}
	return t.relu(t.add(y, x))
}
