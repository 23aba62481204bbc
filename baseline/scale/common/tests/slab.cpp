#include "slab.hpp"

#include "../../../common/tests/tests.hpp"

using namespace reprise::scale;

namespace {

std::string text(const Slab &s) {
	std::ostringstream t;
	t << s.computed.first << "-" << s.computed.last << " in " << s.stored.first << "-" << s.stored.last;
	return t.str();
}

} // namespace

TEST(slabs_are_adjacent) {
	EQUAL(text(slab_of({0, 10}, 10, 0, 3)), "0-3 in 0-4");
	EQUAL(text(slab_of({0, 10}, 10, 1, 3)), "3-6 in 2-7");
	EQUAL(text(slab_of({0, 10}, 10, 2, 3)), "6-10 in 5-10");
}

// The first and the last row belong to no slab, and are stored.
TEST(slabs_inside_of_borders) {
	EQUAL(text(slab_of({1, 9}, 10, 0, 1)), "1-9 in 0-10");
	EQUAL(text(slab_of({1, 9}, 10, 0, 8)), "1-2 in 0-3");
	EQUAL(text(slab_of({1, 9}, 10, 7, 8)), "8-9 in 7-10");
}

TEST(slabs_of_great_grids) { EQUAL(text(slab_of({0, 262140}, 262140, 1023, 1024)), "261884-262140 in 261883-262140"); }

TEST(rows_of_a_slab) {
	const auto s = slab_of({0, 10}, 10, 1, 3);
	EQUAL(s.local(s.computed).first, 1);
	EQUAL(s.local(s.computed).last, 4);
	EQUAL(s.stored.count(), 5);
	EQUAL((Rows{3, 3}.empty()), true);
}
