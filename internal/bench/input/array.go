package input

// Array makes an array of n numbers of what value gives for each index.
func Array[T Number](n int, value func(i int) T) []T {
	array := make([]T, n)
	for i := range array {
		array[i] = value(i)
	}
	return array
}
