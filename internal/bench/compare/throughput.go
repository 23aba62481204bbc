package compare

// Throughput relates the bursts of a comparison: replays that are submitted back to back.
type Throughput struct {
	Burst   int     `json:"burst"`    // replays
	Best    string  `json:"best"`     // name of the row in Go with the highest throughput
	BestCPP string  `json:"best_cpp"` // the same of the C++ versions that use the memory of one replay
	Gain    float64 `json:"gain"`     // throughput of Best divided by that of BestCPP
	// Options holds the rows with optional passes, and the C++ version with memory for several replays. A plan of
	// several replays has the latency of all of them.
	Options []Row `json:"options"`
}

// throughput returns c.Throughput, which it creates.
func (c *Comparison) throughput() *Throughput {
	if c.Throughput == nil {
		c.Throughput = &Throughput{}
	}
	return c.Throughput
}

// all returns all rows, first those of single replays without optional passes.
func (c *Comparison) all() (rows []*Row) {
	for i := range c.Rows {
		rows = append(rows, &c.Rows[i])
	}
	if c.Throughput != nil {
		for i := range c.Throughput.Options {
			rows = append(rows, &c.Throughput.Options[i])
		}
	}
	return rows
}

// relateBursts computes the ratios between bursts.
func (c *Comparison) relateBursts() {
	t := c.throughput()
	ours := c.quickestBurst(func(r *Row) bool { return r.Language == "go" })
	theirs := c.quickestBurst(func(r *Row) bool { return r.Language == "c++" && r.Copies <= 1 })
	t.Burst, t.Best, t.BestCPP, t.Gain = ours.Burst, ours.Name, theirs.Name, ratio(theirs.BurstUS, ours.BurstUS)
	for _, r := range c.all() {
		r.Gain = ratio(theirs.BurstUS, r.BurstUS)
	}
}

// quickestBurst returns the row of a kind with the least time per replay of a burst and no wrong result, or an empty
// row. Times that differ by less than the accuracy of clocks count as equal, and the first of them is returned.
func (c *Comparison) quickestBurst(kind func(*Row) bool) *Row {
	best := &Row{}
	for _, r := range c.all() {
		if r.OK && r.BurstUS > 0 && kind(r) && (best.BurstUS == 0 || best.BurstUS-r.BurstUS > tick) {
			best = r
		}
	}
	return best
}

// ThroughputMean holds the geometric means of a row over all workloads that have it.
type ThroughputMean struct {
	Name      string  `json:"name"`
	Workloads int     `json:"workloads"`
	Latency   float64 `json:"latency"` // time of an iteration divided by that of the fastest C++ version
	Gain      float64 `json:"gain"`    // throughput divided by that of the best C++ version
}

// ThroughputMeans averages the bursts of all comparisons by name, in order of appearance, followed by the best rows in
// Go. It is empty without bursts.
func ThroughputMeans(all []Comparison) (means []ThroughputMean) {
	var of []Comparison
	for _, c := range all {
		if c.Throughput != nil {
			of = append(of, c)
		}
	}
	if len(of) == 0 {
		return nil
	}
	for _, name := range distinct(of, func(c *Comparison) (names []string) {
		for _, r := range c.all() {
			names = append(names, r.Name)
		}
		return names
	}) {
		means = append(means, throughputMean(of, name, func(*Comparison) string { return name }))
	}
	return append(means, throughputMean(of, BestGo, func(c *Comparison) string { return c.Throughput.Best }))
}

func throughputMean(all []Comparison, name string, pick func(*Comparison) string) ThroughputMean {
	var of []Comparison // with such a row
	for _, c := range all {
		if c.find(pick(&c)) != nil {
			of = append(of, c)
		}
	}
	row := func(c *Comparison) *Row { return c.find(pick(c)) }
	return ThroughputMean{
		Name: name, Workloads: len(workloadsOf(of)),
		Latency: meanOver(of, func(c *Comparison) float64 { return row(c).RatioToBest }),
		Gain:    meanOver(of, func(c *Comparison) float64 { return row(c).Gain }),
	}
}

// find returns the row with a name, or nil.
func (c *Comparison) find(name string) *Row {
	for _, r := range c.all() {
		if r.Name == name {
			return r
		}
	}
	return nil
}
