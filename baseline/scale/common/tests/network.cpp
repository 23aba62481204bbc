#include "network.hpp"

#include "../../../common/tests/tests.hpp"

using namespace reprise::scale;

// 1000 bytes at 50e9 bytes/s are 20 ns, beside the 500 ns of a message.
TEST(network_messages_in_turn) {
	const Network n;
	Port out(n), in(n);
	EQUAL(out.sent(1000, 1000000), 3520000u);
	EQUAL(out.sent(1000, 1000000), 4040000u); // after the other one
	EQUAL(out.sent(1000, 9000000), 11520000u);
	EQUAL(in.received(1000, 3520000), 3520000u);
	EQUAL(in.received(1000, 3520000), 4040000u); // of another sender at the same time
	EQUAL(in.received(1000, 9000000), 9000000u);
}
