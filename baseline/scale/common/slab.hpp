// How the rows of a grid are divided among devices.
#pragma once

#include <algorithm>

namespace reprise::scale {

// Rows are rows first <= y < last.
struct Rows {
	int first = 0, last = 0;
	int count() const { return last - first; }
	bool empty() const { return first >= last; }
};

// Slab is the part of a grid that one device has: the rows that it computes, and one row of each neighbour.
struct Slab {
	Rows computed; // of the grid
	Rows stored;   // of the grid: computed and a row on each side, inside of the grid

	// local are rows of the grid, counted from the first one that is stored.
	Rows local(Rows rows) const { return {rows.first - stored.first, rows.last - stored.first}; }
};

// slab_of is part i of n of the rows of a grid, of which some are computed. Their numbers differ by one at most.
inline Slab slab_of(Rows computed, int rows, int i, int n) {
	const auto cut = [&](int at) { return computed.first + static_cast<int>(static_cast<long>(computed.count()) * at / n); };
	const Rows mine{cut(i), cut(i + 1)};
	return {mine, {std::max(mine.first - 1, 0), std::min(mine.last + 1, rows)}};
}

} // namespace reprise::scale
