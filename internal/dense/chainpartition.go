package dense

// ChainPartition partitions the nodes of a reduced graph into chains with the fewest edges between
// different chains, and among such partitions, as far as the limits allow, one of the fewest chains.
//
// A maximum matching of the edges gives the number of edges inside chains. joinChains then finds the
// fewest chains at that number, if its table has at most joinBits bits. Beyond, mergeChains joins the
// paths of the one matching found, by another matching of at most mergeChains paths.
func ChainPartition(d *Graph, joinBits, maxMerged int) []Chain {
	m := MaximumMatching(d.Rows)
	if m.joinChains(d, joinBits) {
		return m.Chains()
	}
	return mergeChains(d, m.Chains(), maxMerged)
}
