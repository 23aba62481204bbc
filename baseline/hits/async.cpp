#include "hits.hpp"

namespace hits {

// A stream for each chain of kernels. The copies are dealt out to both: one gets under way while the other stream's is
// on the link. The clears come after the first two copies, which are then as long as it takes to enqueue them. A
// division waits for the other chain's product, which reads what it overwrites, and a product for the other chain's
// division, whose scores it reads.
void Hits::async(Streams &s) const {
	const auto &a = authorities_, &h = hubs_;
	s.run(0, a.upload_ptr);
	s.run(1, {&a.upload_idx, &clear_counters_, &clear_norms_});
	s.run(0, a.upload_val);
	s.run(1, a.upload_scores);
	const auto for_authorities = s.record(1);
	s.run(1, h.upload_ptr);
	s.run(0, h.upload_idx);
	s.run(1, h.upload_val);
	s.run(0, h.upload_scores);
	if (!is_nothing(h.upload_scores))
		s.wait(1, s.record(0));
	s.wait(0, for_authorities);
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
