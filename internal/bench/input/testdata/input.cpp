// Prints what input_test.go compares with the Go generator:
//
//   bytes ARRAY SEED N     N numbers of each kind, then 2u-1 and 59.5+u and u/N, as raw bytes
//   graph ARRAY SEED N     a graph and its transpose, as raw bytes
//   hash                   of standard input, over its first three bytes and then the rest, in hexadecimal
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "input.hpp"

template <class T> static void put(T value) { std::fwrite(&value, sizeof value, 1, stdout); }

static void bytes(const reprise::Sequence &s, std::size_t n) {
	for (std::size_t i = 0; i < n; i++) {
		put(s.uint64(i));
		put(s.float32(i));
		put(s.float64(i));
		put(s.below(i, 10));
		put(2 * s.float32(i) - 1);
		put(59.5 + s.float64(i));
		put((2 * s.float32(i) - 1) / static_cast<float>(n));
	}
}

static void graph(const reprise::Sequence &s, std::size_t n) {
	const reprise::Edges edges(s, n);
	const auto forth = edges.graph(), back = edges.transpose();
	for (const auto *list : {&forth.ptr, &forth.idx, &back.ptr, &back.idx})
		for (const auto v : *list)
			put(v);
}

static void hash() {
	std::string data;
	for (int c; (c = std::getchar()) != EOF;)
		data.push_back(static_cast<char>(c));
	const auto h = reprise::hash(0, data.data(), 3);
	std::printf("%016" PRIx64 "\n", reprise::hash(h, data.data() + 3, data.size() - 3));
}

int main(int argc, char **argv) {
	const std::string what = argc > 1 ? argv[1] : "";
	if (what == "hash") {
		hash();
		return 0;
	}
	if (argc != 5)
		return 2;
	const reprise::Sequence s(argv[2], std::strtoull(argv[3], nullptr, 10));
	const std::size_t n = std::strtoull(argv[4], nullptr, 10);
	what == "graph" ? graph(s, n) : bytes(s, n);
}
