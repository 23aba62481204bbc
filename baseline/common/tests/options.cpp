#include "options.hpp"

#include "tests.hpp"
#include "version.hpp"

using namespace reprise;

namespace {

Options parse(std::vector<std::string> words) {
	std::vector<char *> argv = {const_cast<char *>("vec")};
	for (auto &w : words)
		argv.push_back(w.data());
	return parse_options(static_cast<int>(argv.size()), argv.data());
}

std::string refused(const std::vector<std::string> &words) {
	try {
		parse(words);
	} catch (const UsageError &e) {
		return e.what();
	}
	return "";
}

std::string joined(const std::vector<std::string> &words) {
	std::string text;
	for (const auto &w : words)
		text += (text.empty() ? "" : " ") + w;
	return text;
}

} // namespace

TEST(options_left_open) {
	const auto o = parse({});
	EQUAL(o.size, 0);
	EQUAL(o.threads, 0);
	EQUAL(o.blocks, 0);
	EQUAL(mode_name(o.mode), std::string("pinned"));
	EQUAL(joined(o.versions), "sync async graph capture graph1");
	EQUAL(o.iterations, 30);
	EQUAL(o.burst, 0);
	EQUAL(o.seed, 1u);
	EQUAL(o.sample, 0);
	EQUAL(o.help, false);
}

TEST(options_given) {
	const auto o = parse({"--size", "2147483647", "--threads=1024", "--blocks", "7", "--memory", "managed", "--version", "graph,sync,graph",
						  "--iterations=1", "--burst", "16", "--device", "3", "--seed", "18446744073709551615", "--sample", "4", "--commit", "a=b"});
	EQUAL(o.size, 2147483647);
	EQUAL(o.threads, 1024);
	EQUAL(o.blocks, 7);
	EQUAL(mode_name(o.mode), std::string("managed"));
	EQUAL(joined(o.versions), "graph sync");
	EQUAL(o.iterations, 1);
	EQUAL(o.burst, 16);
	EQUAL(o.device, 3);
	EQUAL(o.seed, UINT64_MAX);
	EQUAL(o.sample, 4);
	EQUAL(o.commit, "a=b");
	EQUAL(parse({"--seed", "1", "--seed", "2"}).seed, 2u);
	EQUAL(joined(parse({"--version", "async,all"}).versions), "sync async graph capture graph1");
	EQUAL(joined(parse({"--version", "graph4,all"}).versions), joined(version_names()));
	EQUAL(joined(parse({"--version", "graph4,sync"}).versions), "graph4 sync");
	EQUAL(parse({"--help", "--nonsense"}).help, true);
}

TEST(options_refused) {
	for (const auto *size : {"0", "-1", "12x", "2147483648", "99999999999999999999", "", "+5", "1e6"})
		EQUAL(refused({"--size", size}), "--size " + std::string(size) + ": use a whole number from 1 to 2147483647");
	EQUAL(refused({"--seed", "18446744073709551616"}), "--seed 18446744073709551616: use a whole number from 0 to 18446744073709551615");
	EQUAL(refused({"--threads", "0256"}), "--threads 0256: use 32, 128, 256 or 1024");
	EQUAL(refused({"--memory", "Pinned"}), "--memory Pinned: use pinned, prefetch or managed");
	EQUAL(refused({"--version", "sync,,async"}), "--version : use all, sync, async, graph, capture, graph1 or graph4");
	EQUAL(refused({"--version="}), "--version: name a version, or all");
	EQUAL(refused({"--size"}), "--size: a value is missing, or the flag is unknown: --help lists them");
	EQUAL(refused({"100", "200"}), "unknown flag 100: --help lists them");
}
