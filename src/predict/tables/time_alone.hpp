#pragma once

#include <cstdint>

#include "predict/tables/time_estimate.hpp"

namespace halcyon::predict {

/// How long something takes while no other application moves bytes. Until it came once without others, of all times.
class time_alone {
  public:
    void learn(int64_t ns, bool beside_others) {
        if (beside_others && alone_) return;
        if (!beside_others && !alone_) all_ = {};
        alone_ = !beside_others;
        all_.learn(ns);
    }
    [[nodiscard]] const time_estimate& estimate() const { return all_; }

    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive) {
        time_estimate::each_field(self.all_, archive);
        archive.number(self.alone_);
    }

  private:
    time_estimate all_;
    bool alone_ = false;  ///< it came without others
};

}  // namespace halcyon::predict
