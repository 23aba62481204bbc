// What the workloads start from: the generator of the Go package bench/input, to the bit. Each value
// is a function of its array and its index alone.
//
// Nothing here rounds. A value that is derived from one should be rounded once at most, as 59.5+u and
// u/n are; compile with -ffp-contract=off all the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace reprise {

// mix is the output function of SplitMix64.
inline std::uint64_t mix(std::uint64_t z) {
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

// Sequence is the numbers of one array.
class Sequence {
public:
	// The sequence of an array, "vec/x" for x of vec, under the user's seed.
	Sequence(std::string_view array, std::uint64_t seed) : seed_(fnv1a(array) ^ mix(seed)) {}

	// uint64 is number i, counted from 0.
	std::uint64_t uint64(std::size_t i) const { return mix(seed_ + (i + 1) * 0x9E3779B97F4A7C15u); }

	// float32 and float64 are uniform on [0, 1).
	float float32(std::size_t i) const { return static_cast<float>(uint64(i) >> 40) * 0x1p-24f; }
	double float64(std::size_t i) const { return static_cast<double>(uint64(i) >> 11) * 0x1p-53; }

	// below is uniform on 0 to n-1.
	std::uint32_t below(std::size_t i, std::uint32_t n) const {
		return static_cast<std::uint32_t>(((uint64(i) >> 32) * n) >> 32);
	}

private:
	static std::uint64_t fnv1a(std::string_view text) {
		std::uint64_t h = 0xcbf29ce484222325u;
		for (char c : text)
			h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
		return h;
	}

	std::uint64_t seed_;
};

// hash carries h on over the bytes of an array: start with 0 and hash the input arrays of a run in
// the order of their first use.
inline std::uint64_t hash(std::uint64_t h, const void *array, std::size_t bytes) {
	const auto *data = static_cast<const unsigned char *>(array);
	for (std::size_t at = 0; at < bytes; at += 8) {
		std::uint64_t word = 0;
		std::memcpy(&word, data + at, std::min<std::size_t>(8, bytes - at));
		h = mix(h ^ word);
	}
	return mix(h ^ bytes);
}

template <class T> std::uint64_t hash(std::uint64_t h, const std::vector<T> &array) {
	return hash(h, array.data(), array.size() * sizeof(T));
}

// SparseGraph is a directed graph as a sparse matrix in CSR form: the targets of the edges that leave vertex i
// are idx[ptr[i]] to idx[ptr[i+1]-1].
struct SparseGraph {
	static constexpr std::size_t degree = 3;

	std::vector<std::int32_t> ptr, idx;

	// A graph of n vertices, at least 3, with 3 distinct targets each, in the order in which they were drawn.
	SparseGraph(const Sequence &s, std::size_t n) : ptr(n + 1), idx(degree * n) {
		for (std::size_t i = 0, end = 0; i < n; i++) {
			const auto row = idx.begin() + static_cast<std::ptrdiff_t>(end);
			for (std::size_t t = 16 * i; end < degree * (i + 1); t++) {
				const auto v = static_cast<std::int32_t>(s.below(t, static_cast<std::uint32_t>(n)));
				const auto drawn = idx.begin() + static_cast<std::ptrdiff_t>(end);
				if (std::find(row, drawn, v) == drawn)
					idx[end++] = v;
			}
			ptr[i + 1] = static_cast<std::int32_t>(end);
		}
	}

	// transpose is the graph with every edge turned round; the targets of each vertex ascend.
	SparseGraph transpose() const {
		const auto n = ptr.size() - 1;
		SparseGraph t(n, idx.size());
		std::vector<std::int32_t> next(std::min(n, partition));
		const auto parts = by_target();
		for (std::size_t p = 0; p < parts.size(); p++) {
			const auto first = p * partition, count = std::min(partition, n - first);
			for (const auto &e : parts[p])
				t.ptr[at(e.to) + 1]++;
			for (auto v = first; v < first + count; v++)
				t.ptr[v + 1] += t.ptr[v];
			std::copy_n(t.ptr.begin() + static_cast<std::ptrdiff_t>(first), count, next.begin());
			for (const auto &e : parts[p])
				t.idx[at(next[at(e.to) - first]++)] = e.from;
		}
		return t;
	}

private:
	// As many vertices have their edges sorted at a time as keep what is written at random in a core's own cache.
	static constexpr std::size_t partition = 1 << 17;

	struct Edge {
		std::int32_t from, to;
	};

	// by_target lists all edges, in their order, by the partition that they lead to.
	std::vector<std::vector<Edge>> by_target() const {
		const auto n = ptr.size() - 1;
		std::vector<std::size_t> counts((n + partition - 1) / partition);
		for (const auto v : idx)
			counts[at(v) / partition]++;
		std::vector<std::vector<Edge>> parts(counts.size());
		for (std::size_t p = 0; p < parts.size(); p++)
			parts[p].reserve(counts[p]);
		for (std::size_t i = 0; i < n; i++)
			for (auto e = at(ptr[i]); e < at(ptr[i + 1]); e++)
				parts[at(idx[e]) / partition].push_back({static_cast<std::int32_t>(i), idx[e]});
		return parts;
	}

	SparseGraph(std::size_t vertices, std::size_t edges) : ptr(vertices + 1), idx(edges) {}

	static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
};

} // namespace reprise
