package input

// Array returns an array of n values, computed from their indices.
func Array[T any](n int, value func(i int) T) []T {
	array := make([]T, n)
	for i := range array {
		array[i] = value(i)
	}
	return array
}
