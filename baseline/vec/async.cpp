#include "vec.hpp"

namespace vec {

// A stream for each branch. The second waits for the copy engine in any case, so it clears res meanwhile, and it
// is the last to be done, so the sum follows on it.
void Vec::async(Streams &s) const {
	s.run(0, upload_x_);
	s.run(1, {&clear_res_, &upload_y_});
	s.run(0, square_x_);
	s.run(1, square_y_);
	s.wait(1, s.record(0));
	s.run(1, {&reduce_xy_, &fetch_res_});
	s.finish({1});
}

} // namespace vec
