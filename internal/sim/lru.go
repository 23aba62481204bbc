package sim

// lru keeps the results of a memo in order of last use and bounds their size.
type lru struct {
	limit, bytes   int64
	count          int64
	oldest, newest *entry
}

// makeRoom evicts results until size more bytes fit. It returns false if they can never fit.
func (l *lru) makeRoom(size int64) bool {
	if size > l.limit {
		return false
	}
	for l.bytes+size > l.limit {
		l.evict(l.oldest)
	}
	return true
}

func (l *lru) add(e *entry) {
	l.bytes += e.size
	l.count++
	l.link(e)
}

// use makes e the most recently used result.
func (l *lru) use(e *entry) {
	l.unlink(e)
	l.link(e)
}

func (l *lru) evict(e *entry) {
	l.unlink(e)
	delete(e.of.results, e.key)
	l.bytes -= e.size
	l.count--
}

func (l *lru) link(e *entry) {
	e.older, e.newer = l.newest, nil
	if l.newest != nil {
		l.newest.newer = e
	} else {
		l.oldest = e
	}
	l.newest = e
}

func (l *lru) unlink(e *entry) {
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		l.oldest = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		l.newest = e.older
	}
}
