package tracer

// Watched is how many calls and interludes an Auto program was watched for.
func (t *Tracer) Watched() int { return t.watch.n }

// SetSymbolBits has calls be hashed to so many bits, until what it returns is called.
func SetSymbolBits(bits int) (restore func()) {
	was := symbolMask
	symbolMask = ^uint64(0) >> (64 - bits)
	return func() { symbolMask = was }
}
