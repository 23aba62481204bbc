#include "vec.hpp"

namespace vec {

// A stream for each branch. The second waits for the copy engine in any case, so it clears res meanwhile.
void Vec::async(Streams &s) const {
	s.run(0, upload_x_);
	s.run(1, clear_res_);
	s.run(1, upload_y_);
	s.run(0, square_x_);
	s.run(1, square_y_);
	s.wait(0, s.record(1));
	s.run(0, reduce_xy_);
	s.run(0, fetch_res_);
	s.finish({0});
}

} // namespace vec
