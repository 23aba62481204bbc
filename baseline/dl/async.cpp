#include "dl.hpp"

namespace dl {

// A stream for each network, layer by layer, for the host takes as long to enqueue a layer as small ones take to run.
// The second waits for the copy engine in any case, so it clears res meanwhile, and it is the last to be done, so the
// dense layer follows on it.
void Dl::async(Streams &s) const {
	s.run(0, x_.upload_image);
	s.run(1, {&clear_res_, &y_.upload_image});
	for (const auto layer : {&Branch::convolve_image, &Branch::pool, &Branch::convolve_pooled}) {
		s.run(0, x_.*layer);
		s.run(1, y_.*layer);
	}
	s.wait(1, s.record(0));
	s.run(1, {&concat_, &dot_, &fetch_res_});
	s.finish({1});
}

} // namespace dl
