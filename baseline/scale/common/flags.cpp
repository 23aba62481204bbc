#include "flags.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace reprise::scale {
namespace {

constexpr int max_extent = 4 * 65535; // 4 rows in each block of a grid's y axis

void size(Options &o, const std::string &flag, const std::string &value) {
	const auto by = value.find('x');
	o.rows = number<int>(flag, value.substr(0, by), 1, max_extent);
	o.cols = by == std::string::npos ? o.rows : number<int>(flag, value.substr(by + 1), 1, max_extent);
	if (static_cast<long>(o.rows) * o.cols > INT_MAX)
		throw UsageError(flag + " " + value + ": the grid has more than 2^31-1 elements, which the kernels cannot index");
}

double positive(const std::string &flag, const std::string &value) {
	char *end = nullptr;
	const double x = std::strtod(value.c_str(), &end);
	if (value.empty() || *end != '\0' || !(x >= 0 && x <= 1e300))
		throw UsageError(flag + " " + value + ": use a number from 0 to 1e300");
	return x;
}

// network reads 1e9 bytes/s, and the latency and the time per message in microseconds.
Network network(const std::string &flag, const std::string &value) {
	std::istringstream words(value);
	std::string gbps, latency, per_message, rest;
	std::getline(words, gbps, ',');
	std::getline(words, latency, ',');
	std::getline(words, per_message, ',');
	const auto picoseconds = [&](const std::string &us) { return static_cast<Picoseconds>(std::llround(1e6 * std::min(positive(flag, us), 1e9))); };
	Network n;
	n.gbps = positive(flag, gbps);
	n.latency = picoseconds(latency);
	n.per_message = picoseconds(per_message);
	if (n.gbps < 1e-3 || std::getline(words, rest))
		throw UsageError(flag + " " + value + ": use three numbers, the first of which is 0.001 or more");
	return n;
}

bool on(const std::string &flag, const std::string &value) {
	if (value != "on" && value != "off")
		throw UsageError(flag + " " + value + ": use on or off");
	return value == "on";
}

void set(Options &o, const std::string &flag, const std::string &value, bool norm) {
	if (flag == "--size")
		size(o, flag, value);
	else if (flag == "--steps")
		o.steps = number<int>(flag, value, 1, INT_MAX);
	else if (flag == "--norm-every" && norm)
		o.norm_every = number<int>(flag, value, 0, INT_MAX);
	else if (flag == "--tolerance" && norm)
		o.tolerance = positive(flag, value);
	else if (flag == "--devices")
		o.devices = number<int>(flag, value, 1, 1024);
	else if (flag == "--peers")
		o.peers = on(flag, value);
	else if (flag == "--network")
		o.network = network(flag, value);
	else if (flag == "--iterations")
		o.iterations = number<int>(flag, value, 1, INT_MAX);
	else if (flag == "--sample")
		o.sample = number<long>(flag, value, 0, INT_MAX);
	else if (flag == "--commit")
		o.commit = value;
	else
		throw UsageError("unknown flag " + flag + ": --help lists them");
}

} // namespace

Options parse_options(int argc, char **argv, bool norm) {
	Options o;
	if (!norm)
		o.norm_every = 0;
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
		set(o, flag, value, norm);
	}
	if (o.tolerance > 0 && o.norm_every == 0)
		throw UsageError("--tolerance without --norm-every: no norm would be compared with it");
	return o;
}

std::string help(const char *name, bool norm) {
	std::ostringstream text;
	text << "Runs " << name << " on several devices and ranks, as written by hand, and prints a JSON record.\n\n"
		 << "  --size N or RxC  rows and columns of the grid (default 512)\n"
		 << "  --steps N        steps of an iteration (default 100)\n";
	if (norm)
		text << "  --norm-every N   steps from one norm of the change to the next; 0: no norm (default 10)\n"
			 << "  --tolerance X    end an iteration when the squared norm is no greater (default 0)\n";
	text << "  --devices N      devices of each rank (default 1)\n"
		 << "  --peers on|off   copy from device to device where they are peers (default on); otherwise through pinned memory\n"
		 << "  --network B,L,M  between ranks on the simulated driver: 1e9 bytes/s, and µs of latency and per message\n"
		 << "                   (default 50,2,0.5)\n"
		 << "  --iterations N   runs from the start; of more than 1, the first is not counted (default 5)\n"
		 << "  --sample N       run N blocks of each launch on the simulated driver: no data, nothing checked\n"
		 << "  --commit TEXT    what the record gives as its revision\n\n"
		 << "mpirun starts several ranks, if the program was built where mpicxx is installed.\n"
		 << "REPRISE_LIBCUDA=build/libcudasim.so REPRISE_SIM_MACHINE=h200-4 chooses the simulated driver and its machine.\n";
	return text.str();
}

} // namespace reprise::scale
