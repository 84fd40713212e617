#pragma once

#include <algorithm>
#include <cmath>

#include "coordinate/coordinator/job.hpp"

namespace halcyon::coordinate {

/// Times of arrival, no two of which are the same: who came first stays first.
class arrival_order {
  public:
    explicit arrival_order(double now_s) : first_s_(now_s), last_s_(now_s) {}

    double before_all() { return first_s_ = std::nextafter(first_s_, -never); }
    double behind_all(double now_s) { return last_s_ = std::max(now_s, std::nextafter(last_s_, never)); }
    [[nodiscard]] double last_s() const { return last_s_; }

  private:
    double first_s_, last_s_;
};

}  // namespace halcyon::coordinate
