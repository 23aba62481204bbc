#include "options.hpp"

#include <algorithm>
#include <climits>
#include <iterator>
#include <sstream>

#include "number.hpp"
#include "version.hpp"

namespace reprise {
namespace {

constexpr const char *mode_names[] = {"pinned", "prefetch", "managed"};

int threads(const std::string &flag, const std::string &text) {
	for (const int n : {32, 128, 256, 1024})
		if (text == std::to_string(n))
			return n;
	throw UsageError(flag + " " + text + ": use 32, 128, 256 or 1024");
}

Mode mode(const std::string &flag, const std::string &text) {
	for (const auto m : {Mode::pinned, Mode::prefetch, Mode::managed})
		if (text == mode_name(m))
			return m;
	throw UsageError(flag + " " + text + ": use pinned, prefetch or managed");
}

std::vector<std::string> without_repeats(const std::vector<std::string> &words) {
	std::vector<std::string> list;
	for (const auto &word : words)
		if (std::find(list.begin(), list.end(), word) == list.end())
			list.push_back(word);
	return list;
}

// versions are those of a list. "all" are those that need no memory of their own.
std::vector<std::string> versions(const std::string &flag, const std::string &text) {
	const auto &known = version_names();
	std::vector<std::string> named;
	std::istringstream words(text);
	for (std::string word; std::getline(words, word, ',');) {
		if (word != "all" && std::find(known.begin(), known.end(), word) == known.end())
			throw UsageError(flag + " " + word + ": use all, sync, async, graph, capture, graph1 or graph4");
		named.push_back(word);
	}
	if (named.empty())
		throw UsageError(flag + ": name a version, or all");
	const auto is_named = [&](const std::string &word) { return std::find(named.begin(), named.end(), word) != named.end(); };
	if (!is_named("all"))
		return without_repeats(named);
	std::vector<std::string> list;
	std::copy_if(known.begin(), known.end(), std::back_inserter(list),
				 [&](const std::string &name) { return copies_of(name) == 1 || is_named(name); });
	return list;
}

void set(Options &o, const std::string &flag, const std::string &value) {
	if (flag == "--size")
		o.size = number<long>(flag, value, 1, INT_MAX);
	else if (flag == "--threads")
		o.threads = threads(flag, value);
	else if (flag == "--blocks")
		o.blocks = number<int>(flag, value, 1, INT_MAX);
	else if (flag == "--memory")
		o.mode = mode(flag, value);
	else if (flag == "--version")
		o.versions = versions(flag, value);
	else if (flag == "--iterations")
		o.iterations = number<int>(flag, value, 1, INT_MAX);
	else if (flag == "--burst")
		o.burst = number<int>(flag, value, 0, INT_MAX);
	else if (flag == "--device")
		o.device = number<int>(flag, value, 0, INT_MAX);
	else if (flag == "--seed")
		o.seed = number<std::uint64_t>(flag, value, 0, UINT64_MAX);
	else if (flag == "--sample")
		o.sample = number<long>(flag, value, 0, INT_MAX);
	else if (flag == "--commit")
		o.commit = value;
	else
		throw UsageError("unknown flag " + flag + ": --help lists them");
}

} // namespace

const char *mode_name(Mode mode) { return mode_names[static_cast<int>(mode)]; }

Options parse_options(int argc, char **argv) {
	Options o;
	o.versions = versions("--version", "all");
	for (int i = 1; i < argc; i++) {
		std::string flag = argv[i], value;
		if (flag == "--help") {
			o.help = true;
			return o;
		}
		if (const auto equals = flag.find('='); equals != std::string::npos) {
			value = flag.substr(equals + 1);
			flag.resize(equals);
		} else if (i + 1 < argc) {
			value = argv[++i];
		} else {
			throw UsageError(flag + ": a value is missing, or the flag is unknown: --help lists them");
		}
		set(o, flag, value);
	}
	return o;
}

std::string help(const Description &w) {
	std::ostringstream text;
	text << "Runs " << w.name << " as written by hand, and prints a JSON record per version.\n\n"
		 << "  --size N         problem size (default " << w.size << ")\n"
		 << "  --threads N      threads per one-dimensional block: 32, 128, 256 or 1024 (default " << w.threads << ")\n"
		 << "  --blocks N       blocks of a one-dimensional grid (default: by the device's multiprocessors)\n"
		 << "  --memory MODE    pinned (explicit copies, the default), prefetch or managed\n"
		 << "  --version LIST   all but graph4 (the default), or some of sync,async,graph,capture,graph1,graph4\n"
		 << "  --iterations N   iterations per version; of more than 3, the first 3 are not counted (default 30)\n"
		 << "  --burst N        also submit N replays back to back, with one wait at the end (default 0: do not)\n"
		 << "  --device N       ordinal of the device (default 0)\n"
		 << "  --seed N         of the random inputs (default 1)\n"
		 << "  --sample N       run N blocks of each launch on the simulated driver: no data, nothing checked\n"
		 << "  --commit TEXT    what the records give as their revision\n\n"
		 << "REPRISE_LIBCUDA=build/libcudasim.so REPRISE_SIM=h200 chooses the simulated driver and its device.\n";
	return text.str();
}

} // namespace reprise
