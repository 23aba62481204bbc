package input

// Array returns an array of n numbers, computed by value from their indices.
func Array[T Number](n int, value func(i int) T) []T {
	array := make([]T, n)
	for i := range array {
		array[i] = value(i)
	}
	return array
}
