// What the workloads start from: the generator of the Go package internal/bench/input, to the bit. Each value
// is a function of its array and its index alone.
//
// Nothing here rounds. A value that is derived from one should be rounded once at most, as 59.5+u and
// u/n are; compile with -ffp-contract=off all the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
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
	std::vector<std::int32_t> ptr, idx;
};

// Edges are those of a random directed graph of n vertices, at least 3, with 3 distinct targets each. Where the edges of a
// vertex lead is a function of the vertex alone, so that a graph of a hundred million vertices needs no memory but that which
// it is written to.
class Edges {
public:
	static constexpr std::size_t degree = 3;

	Edges(const Sequence &s, std::size_t n) : draws_(s), n_(n) {}

	// from is where the edges of a vertex lead, in the order in which they were drawn.
	std::array<std::int32_t, degree> from(std::size_t vertex) const {
		std::array<std::int32_t, degree> targets{};
		for (auto [t, drawn] = std::pair(16 * vertex, targets.begin()); drawn != targets.end(); t++) {
			const auto v = static_cast<std::int32_t>(draws_.below(t, static_cast<std::uint32_t>(n_)));
			if (std::find(targets.begin(), drawn, v) == drawn)
				*drawn++ = v;
		}
		return targets;
	}

	// graph is the graph, and transpose that with every edge turned round; the targets of each vertex ascend then.
	SparseGraph graph() const {
		auto g = room();
		write(g.ptr.data(), g.idx.data());
		return g;
	}
	SparseGraph transpose() const {
		auto g = room();
		write_transpose(g.ptr.data(), g.idx.data());
		return g;
	}

	// write writes the graph to n+1 and 3n numbers.
	void write(std::int32_t *ptr, std::int32_t *idx) const {
		ptr[0] = 0;
		for (std::size_t i = 0; i < n_; i++) {
			const auto targets = from(i);
			std::copy(targets.begin(), targets.end(), idx + degree * i);
			ptr[i + 1] = static_cast<std::int32_t>(degree * (i + 1));
		}
	}

	// write_transpose writes the transpose. First it writes to each partition's place in idx where the edges come from that lead
	// there; which of its vertices they lead to is drawn again when the partition is sorted.
	void write_transpose(std::int32_t *ptr, std::int32_t *idx) const {
		ptr[0] = 0;
		std::vector<Edge> edges;
		std::size_t begin = 0, first = 0;
		for (const auto end : gather(idx)) {
			const auto count = std::min(partition, n_ - first);
			leading(edges, idx + begin, std::unique(idx + begin, idx + end), first, count);
			sort_by_target(ptr + first, count, idx, edges);
			begin = end;
			first += partition;
		}
	}

private:
	// As many vertices have their edges sorted at a time as keep what is written at random in a core's own cache.
	static constexpr std::size_t partition = 1 << 17;

	// Edge leads from a vertex to another, which is counted from the first of its partition.
	struct Edge {
		std::int32_t from;
		std::size_t to;
	};

	SparseGraph room() const { return {std::vector<std::int32_t>(n_ + 1), std::vector<std::int32_t>(degree * n_)}; }

	// gather writes, partition by partition, where the edges come from that lead there, in ascending order. It returns the ends of
	// the partitions.
	std::vector<std::size_t> gather(std::int32_t *sources) const {
		std::vector<std::size_t> ends((n_ + partition - 1) / partition);
		for (std::size_t i = 0; i < n_; i++)
			for (const auto v : from(i))
				ends[at(v) / partition]++;
		std::size_t sum = 0;
		for (auto &end : ends)
			sum += std::exchange(end, sum);
		for (std::size_t i = 0; i < n_; i++)
			for (const auto v : from(i))
				sources[ends[at(v) / partition]++] = static_cast<std::int32_t>(i);
		return ends;
	}

	// leading lists the edges that lead from some vertices to count others, from first on.
	void leading(std::vector<Edge> &edges, const std::int32_t *begin, const std::int32_t *end, std::size_t first, std::size_t count) const {
		edges.clear();
		for (auto i = begin; i != end; i++)
			for (const auto v : from(at(*i)))
				if (const auto to = at(v) - first; to < count) // which wraps below first
					edges.push_back({*i, to});
	}

	// sort_by_target writes the edges that lead to a partition, whose first row begins where ptr says: the beginnings of the other
	// rows, and the rows.
	static void sort_by_target(std::int32_t *ptr, std::size_t count, std::int32_t *idx, const std::vector<Edge> &edges) {
		std::fill_n(ptr + 1, count, 0);
		for (const auto &e : edges)
			ptr[e.to + 1]++;
		for (std::size_t v = 0; v < count; v++)
			ptr[v + 1] += ptr[v];
		std::vector<std::int32_t> next(ptr, ptr + count);
		for (const auto &e : edges)
			idx[next[e.to]++] = e.from;
	}

	static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

	Sequence draws_;
	std::size_t n_;
};

} // namespace reprise
