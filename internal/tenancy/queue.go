package tenancy

import "slices"

// queue holds the requests of a cohort, the earliest deadline first.
type queue struct {
	list  []*Request
	stamp int // of the last pass that counted tenants
}

// unseen reports whether a request is the first of its tenant in a pass over the list, which begins with another stamp.
func (q *queue) unseen(r *Request) bool {
	if r.Tenant.stamp == q.stamp {
		return false
	}
	r.Tenant.stamp = q.stamp
	return true
}

// push inserts a request behind those that come before it. Most requests come last, so this takes a step or two.
func (q *queue) push(r *Request) {
	at := len(q.list)
	for at > 0 && r.compare(q.list[at-1]) < 0 {
		at--
	}
	q.list = slices.Insert(q.list, at, r)
}

func (q *queue) len() int { return len(q.list) }

// first returns the request with the earliest deadline, or nil.
func (q *queue) first() *Request {
	if len(q.list) == 0 {
		return nil
	}
	return q.list[0]
}

// take removes up to n requests that pick accepts beside those taken so far, in order, and appends them to into. At most
// one request of a tenant is taken: a tenant has one set of buffers.
func (q *queue) take(into []*Request, n int, pick func(r *Request, taken []*Request) bool) []*Request {
	q.stamp++
	kept := q.list[:0]
	for i, r := range q.list {
		if n == 0 {
			kept = append(kept, q.list[i:]...)
			break
		}
		if pick(r, into) && q.unseen(r) {
			into = append(into, r)
			n--
		} else {
			kept = append(kept, r)
		}
	}
	clear(q.list[len(kept):])
	q.list = kept
	return into
}

// miss counts a round for each tenant that has a request in the list, but none among those that the last call of take has
// taken.
func (q *queue) miss() {
	for _, r := range q.list {
		if q.unseen(r) {
			r.Tenant.missed++
		}
	}
}

// remove removes the requests that match and returns them.
func (q *queue) remove(match func(*Request) bool) (removed []*Request) {
	q.list = slices.DeleteFunc(q.list, func(r *Request) bool {
		if match(r) {
			removed = append(removed, r)
			return true
		}
		return false
	})
	return removed
}

// tenants returns the number of different tenants with requests, at most limit.
func (q *queue) tenants(limit int) (n int) {
	q.stamp++
	for _, r := range q.list {
		if n == limit {
			break
		}
		if q.unseen(r) {
			n++
		}
	}
	return n
}
