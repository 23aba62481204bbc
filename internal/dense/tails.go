package dense

// Tails reports, by node, whether an edge begins there. preds has the predecessors of each node.
func Tails[ID ~int32](preds [][]ID) []bool {
	tails := make([]bool, len(preds))
	for _, row := range preds {
		for _, u := range row {
			tails[u] = true
		}
	}
	return tails
}
