#include "ml.hpp"

namespace ml {

// A stream for each classifier, the ridge first, since normalising takes longest. What that adds to is copied on
// a stream of its own: behind the normalising it would come too late, and before it in the way.
void Ml::async(Streams &s) const {
	s.run(0, normalise_);
	s.run(1, {&upload_r1_, &add_bayes_});
	if (!is_nothing(upload_r2_)) {
		s.run(2, upload_r2_);
		s.wait(0, s.record(2));
	}
	s.run(0, {&add_ridge_, &add_intercept_, &softmax_r2_});
	s.run(1, {&find_amax_, &find_l_, &exp_bayes_, &softmax_r1_});
	s.wait(0, s.record(1));
	s.run(0, {&choose_, &download_r_});
	s.finish({0});
}

} // namespace ml
