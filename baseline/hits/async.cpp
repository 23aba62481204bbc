#include "hits.hpp"

namespace hits {

// A stream for each chain. The hubs' arrays wait for the copy engine behind the authorities', so that stream clears
// the accumulators meanwhile. A division waits for the other chain's product, which reads what it overwrites, and a
// product for the other chain's division, whose scores it reads.
void Hits::async(Streams &s) const {
	s.run(1, {&clear_counters_, &clear_norms_});
	const auto cleared = s.record(1);
	s.run(0, {&authorities_.upload_ptr, &authorities_.upload_idx, &authorities_.upload_val, &authorities_.upload_scores});
	s.run(1, {&hubs_.upload_ptr, &hubs_.upload_idx, &hubs_.upload_val, &hubs_.upload_scores});
	s.wait(0, cleared);
	for (std::size_t i = 0; i < rounds; i++) {
		s.run(0, authorities_.product[i]);
		const auto hubs_read = s.record(0);
		s.run(1, hubs_.product[i]);
		const auto authorities_read = s.record(1);
		s.run(0, authorities_.sum[i]);
		s.run(1, hubs_.sum[i]);
		s.wait(0, authorities_read);
		s.run(0, authorities_.divide[i]);
		s.wait(1, hubs_read);
		s.run(1, hubs_.divide[i]);
		if (i + 1 == rounds)
			break;
		const auto authorities = s.record(0), hubs = s.record(1);
		s.wait(0, hubs);
		s.wait(1, authorities);
	}
	s.run(0, authorities_.download_scores);
	s.run(1, hubs_.download_scores);
	s.finish({0, 1});
}

} // namespace hits
