// A stand-in for the CUDA runtime, with the one function that Numba calls: the version of the toolkit. The real
// runtime cannot start on the simulated driver: it requires tables of cuGetExportTable, which are not public. The
// version is the newest that Numba 0.56 supports.
int cudaRuntimeGetVersion(int *version) {
	*version = 11020;
	return 0;
}
