package taskgraph

// montage has k+1 images in a row, each of which overlaps the next two.
func montage(p *plot, k int) {
	projected := p.several(k + 1)
	var fits []int
	for i := range projected {
		for j := i + 1; j < min(len(projected), i+3); j++ {
			fits = append(fits, p.drawn(projected[i], projected[j]))
		}
	}
	model := p.drawn(p.drawn(fits...))
	var corrected []int
	for _, image := range projected {
		corrected = append(corrected, p.drawn(image, model))
	}
	table := p.drawn(corrected...)
	p.drawn(p.drawn(p.drawn(append(corrected, table)...))) // add, shrink, convert to JPEG
}

// cyberShake has k ruptures for each tensor.
func cyberShake(p *plot, k int) {
	var seismograms, peaks []int
	for _, tensor := range p.several(2) {
		for range k {
			s := p.drawn(tensor)
			seismograms, peaks = append(seismograms, s), append(peaks, p.drawn(s))
		}
	}
	p.drawn(seismograms...)
	p.drawn(peaks...)
}

// epigenomics has k parts of each of 4 lanes.
func epigenomics(p *plot, k int) {
	var lanes []int
	for range 4 {
		var mapped []int
		for _, part := range p.several(k, p.drawn()) {
			mapped = append(mapped, p.drawn(p.drawn(p.drawn(part))))
		}
		lanes = append(lanes, p.drawn(mapped...))
	}
	p.drawn(p.drawn(p.drawn(lanes...)))
}

// inspiral has k groups of 5 waveforms.
func inspiral(p *plot, k int) {
	for range k {
		joined := p.drawn(p.afterEach(p.several(5))...)
		p.drawn(p.afterEach(p.several(5, joined))...)
	}
}

// afterEach adds one task after each of the given tasks.
func (p *plot) afterEach(tasks []int) []int {
	var next []int
	for _, t := range tasks {
		next = append(next, p.drawn(t))
	}
	return next
}
