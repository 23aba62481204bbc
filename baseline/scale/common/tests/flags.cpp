#include "flags.hpp"

#include <vector>

#include "../../../common/tests/tests.hpp"

using namespace reprise;

namespace {

scale::Options parse(std::vector<std::string> words, bool norm = true) {
	std::vector<char *> argv = {const_cast<char *>("jacobi")};
	for (auto &w : words)
		argv.push_back(w.data());
	return scale::parse_options(static_cast<int>(argv.size()), argv.data(), norm);
}

std::string refused(const std::vector<std::string> &words, bool norm = true) {
	return tests::complaint([&] { parse(words, norm); });
}

} // namespace

TEST(scale_flags) {
	const auto o = parse({"--size", "37x70", "--steps=9", "--norm-every", "3", "--tolerance", "1e-3", "--devices", "4", "--peers", "off", "--sample", "2"});
	EQUAL(o.rows, 37);
	EQUAL(o.cols, 70);
	EQUAL(o.steps, 9);
	EQUAL(o.norm_every, 3);
	EQUAL(o.tolerance, 1e-3);
	EQUAL(o.devices, 4);
	EQUAL(o.peers, false);
	EQUAL(o.sample, 2);
	EQUAL(parse({"--network", "25,1.5,0.2"}).network.gbps, 25);
	EQUAL(parse({"--network", "25,1.5,0.2"}).network.latency, 1500000u);
	EQUAL(parse({"--network", "25,1.5,0.2"}).network.per_message, 200000u);
	EQUAL(parse({"--size", "12"}).cols, 12);
	EQUAL(parse({}, false).norm_every, 0);
	EQUAL(parse({"--help"}).help, true);
}

TEST(scale_flags_refused) {
	EQUAL(refused({"--size", "3x"}), "--size : use a whole number from 1 to 262140");
	EQUAL(refused({"--size", "262140"}), "--size 262140: the grid has more than 2^31-1 elements, which the kernels cannot index");
	EQUAL(refused({"--peers", "yes"}), "--peers yes: use on or off");
	EQUAL(refused({"--network", "25,1"}), "--network : use a number from 0 to 1e300");
	EQUAL(refused({"--network", "0,1,1"}), "--network 0,1,1: use three numbers, the first of which is 0.001 or more");
	EQUAL(refused({"--network", "1,1,1,1"}), "--network 1,1,1,1: use three numbers, the first of which is 0.001 or more");
	EQUAL(refused({"--tolerance", "-1"}), "--tolerance -1: use a number from 0 to 1e300");
	EQUAL(refused({"--tolerance", "1", "--norm-every", "0"}), "--tolerance without --norm-every: no norm would be compared with it");
	EQUAL(refused({"--norm-every", "2"}, false), "unknown flag --norm-every: --help lists them");
	EQUAL(refused({"--steps"}), "--steps: a value is missing, or the flag is unknown: --help lists them");
}
