#include "memory.hpp"

#include "tests.hpp"

using namespace reprise;

namespace {

const std::vector<std::int32_t> numbers = {1, 2, 3, 4, 5};
constexpr std::int32_t poisoned = -1;

std::string listed(const std::vector<std::int32_t> &list) {
	std::string text;
	for (const auto v : list)
		text += std::to_string(v) + " ";
	return text;
}

} // namespace

// What is written in place, and what by a copy, is on the device afterwards.
TEST(memory_drafts) {
	const Device device(0);
	for (const auto mode : {Mode::pinned, Mode::prefetch, Mode::managed}) {
		Memory memory(device, mode);
		const auto array = memory.transferred<std::int32_t>(numbers.size());
		auto draft = memory.draft(array);
		EQUAL(draft.data() == array.data(), mode != Mode::pinned);
		std::copy(numbers.begin(), numbers.end(), draft.data());
		memory.send(draft);
		EQUAL(listed(memory.peek(array)), listed(numbers));
	}
}

// What an iteration must write is poisoned where it reads it, and what it copies from is in place.
TEST(memory_refill_and_poison) {
	const Device device(0);
	for (const auto mode : {Mode::pinned, Mode::managed}) {
		Memory memory(device, mode);
		const auto array = memory.transferred<std::int32_t>(numbers.size());
		memory.refill(array, numbers);
		const std::vector<std::int32_t> host(memory.read(array), memory.read(array) + numbers.size());
		EQUAL(listed(host), listed(numbers));
		if (mode == Mode::pinned)
			EQUAL(listed(memory.peek(array)), listed(std::vector(numbers.size(), poisoned)));
		memory.poison({array});
		EQUAL(memory.read(array)[4], poisoned);
		EQUAL(memory.peek(array)[0], poisoned);
	}
}

TEST(memory_misfits) {
	const Device device(0);
	Memory memory(device, Mode::pinned);
	const auto array = memory.transferred<std::int32_t>(4);
	EQUAL(tests::complaint([&] { memory.write(array, numbers); }), "BUG: 20 bytes are written to an array of 16");
	EQUAL(tests::complaint([&] { memory.refill(array.slice(1, 3), numbers); }), "BUG: 20 bytes are written to an array of 8");
	EQUAL(tests::complaint([&] { memory.write(array, {1, 2, 3}); }), ""); // its beginning
}
