package box

// Table numbers shapes, from 1, in the order of their first use. To add shapes to those of
// another table, call ID for each of these first.
type Table struct {
	all []Shape // by number - 1
	ids map[Shape]uint32
}

// ID returns the number of a valid shape. It is 0 for a contiguous one.
func (t *Table) ID(s Shape) uint32 {
	if s.Contiguous() {
		return 0
	}
	id, ok := t.ids[s]
	if !ok {
		if t.ids == nil {
			t.ids = map[Shape]uint32{}
		}
		t.all = append(t.all, s)
		id = uint32(len(t.all))
		t.ids[s] = id
	}
	return id
}

// Shapes returns the shapes: number 1 comes first.
func (t *Table) Shapes() []Shape { return t.all }
