// What hits should have computed, on the CPU and in doubles.
#pragma once

#include <vector>

#include "input.hpp"

namespace hits {

struct Scores {
	std::vector<double> authority, hub;
};

// scores after so many rounds of power iteration from all ones. In each, the authority of a vertex is the sum of the
// hubs that point to it and its hub that of the authorities it points to, and then each is divided by its sum.
Scores iterate(const reprise::SparseGraph &edges, int rounds);

} // namespace hits
