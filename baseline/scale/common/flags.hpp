// The command line of the programs of baseline/scale.
#pragma once

#include <string>

#include "network.hpp"
#include "number.hpp"

namespace reprise::scale {

struct Options {
	int rows = 512, cols = 512;
	int steps = 100;	  // of an iteration
	int norm_every = 10;  // steps; 0: no norm
	double tolerance = 0; // an iteration ends when a norm is no greater
	int devices = 1;	  // of each rank
	bool peers = true;	  // copy from device to device where devices are peers
	Network network; // between simulated ranks
	int iterations = 5;
	long sample = 0;
	std::string commit = "unknown";
	bool help = false;
};

// parse_options reads the command line. norm permits the flags about norms.
Options parse_options(int argc, char **argv, bool norm);

std::string help(const char *name, bool norm);

} // namespace reprise::scale
