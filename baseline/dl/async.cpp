#include "dl.hpp"

namespace dl {

// A stream for each network. The second waits for the copy engine in any case, so it clears res meanwhile, and it
// is the last to be done, so the dense layer follows on it.
void Dl::async(Streams &s) const {
	s.run(0, x_.upload_image);
	s.run(1, {&clear_res_, &y_.upload_image});
	s.run(0, {&x_.convolve_image, &x_.pool, &x_.convolve_pooled});
	s.run(1, {&y_.convolve_image, &y_.pool, &y_.convolve_pooled});
	s.wait(1, s.record(0));
	s.run(1, {&concat_, &dot_, &fetch_res_});
	s.finish({1});
}

} // namespace dl
