package tracer

// SetSymbolBits has calls be hashed to so many bits, until what it returns is called.
func SetSymbolBits(bits int) (restore func()) {
	was := symbolMask
	symbolMask = ^uint64(0) >> (64 - bits)
	return func() { symbolMask = was }
}
