package optimizer

// maxAntichain is the most lives whose heaviest antichain is looked for: its flow takes
// eight bytes for each pair, 8 MiB.
const maxAntichain = 1 << 10

// antichain is the most bytes of lives that conflict two by two, which lie side by side in
// any arena: a lower bound. Which life ends before another begins is a partial order, so
// this is its heaviest antichain, and by the weighted form of Dilworth's theorem the least
// number of chains that pass each life once for every byte of it:
//
//	chains  =  bytes  -  the most links between bytes of lives that follow one another
//
// The links are a flow through the bipartite graph of who follows whom (Dinic, 1970).
func antichain(lives []life, conflicts []bitset) (bytes int64) {
	f := newLinks(lives, conflicts)
	for f.level() {
		for i := range f.lives {
			for f.send[i] > 0 {
				got := f.push(i, f.send[i])
				if got == 0 {
					break
				}
				f.send[i] -= got
			}
		}
	}
	for _, s := range f.send {
		bytes += s // heads of chains
	}
	return bytes
}

// links is a flow from lives to lives that follow them.
type links struct {
	lives   []life
	follows []bitset  // by life: those that follow it
	flow    [][]int64 // from a life to one that follows it
	send    []int64   // by life: bytes without a link to what follows
	take    []int64   // by life: bytes without a link from what precedes
	from    []int32   // by life as one that precedes: its distance from any that can send, -1 for none
	to      []int32   // by life as one that follows
	tried   []int     // by life as one that precedes: what came of a search
	back    []int
}

func newLinks(lives []life, conflicts []bitset) *links {
	n := len(lives)
	f := &links{lives: lives, follows: make([]bitset, n), flow: make([][]int64, n), send: make([]int64, n), take: make([]int64, n), tried: make([]int, n), back: make([]int, n)}
	for i, l := range lives {
		f.send[i], f.take[i] = l.size, l.size
		f.flow[i] = make([]int64, n)
		f.follows[i] = newBitset(n)
		for j := i + 1; j < n; j++ {
			if !conflicts[i].has(j) {
				f.follows[i].set(j)
			}
		}
	}
	return f
}

// level finds the distances of a breadth-first search, and whether anything more can be
// sent.
func (f *links) level() bool {
	n := len(f.lives)
	f.from, f.to = filled(n, -1), filled(n, -1)
	clear(f.tried)
	clear(f.back)
	var front []int
	for i, s := range f.send {
		if s > 0 {
			f.from[i] = 0
			front = append(front, i)
		}
	}
	found := false
	for len(front) > 0 && !found {
		var next []int
		for _, i := range front {
			for j := f.follows[i].next(0); j >= 0; j = f.follows[i].next(j + 1) {
				if f.to[j] >= 0 {
					continue
				}
				f.to[j] = f.from[i] + 1
				found = found || f.take[j] > 0
				for k := range j { // what precedes j comes before it
					if f.flow[k][j] > 0 && f.from[k] < 0 {
						f.from[k] = f.to[j] + 1
						next = append(next, k)
					}
				}
			}
		}
		front = next
	}
	return found
}

// push sends up to so many bytes from i along the distances, and returns how many got
// through.
func (f *links) push(i int, bytes int64) int64 {
	for j := f.follows[i].next(f.tried[i]); j >= 0; j = f.follows[i].next(j + 1) {
		f.tried[i] = j
		if f.to[j] != f.from[i]+1 {
			continue
		}
		if got := f.deliver(j, bytes); got > 0 {
			f.flow[i][j] += got
			return got
		}
	}
	f.tried[i] = len(f.lives)
	return 0
}

// deliver has j take bytes, or give back others of them.
func (f *links) deliver(j int, bytes int64) int64 {
	if got := min(bytes, f.take[j]); got > 0 {
		f.take[j] -= got
		return got
	}
	for ; f.back[j] < j; f.back[j]++ {
		k := f.back[j]
		if f.flow[k][j] == 0 || f.from[k] != f.to[j]+1 {
			continue
		}
		if got := f.push(k, min(bytes, f.flow[k][j])); got > 0 {
			f.flow[k][j] -= got
			return got
		}
	}
	return 0
}
