#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// The values that the clients gave to mutable parameters, as they were in each iteration that still matters. The
/// latest are in the segment, too, where a server that takes over finds them.
///
/// The loop's thread alone uses it.
class parameter_values {
  public:
    parameter_values(const segment& shared, const model& data);

    /// A client set a parameter in `iteration`. False: there is no such parameter, or it cannot have that value.
    [[nodiscard]] bool set(uint32_t client, uint32_t parameter, double value, int64_t iteration);
    /// Nothing is asked any more of an iteration before this one.
    void forget_before(uint32_t client, int64_t iteration);
    /// Goes on with what a predecessor knew last.
    void resume(uint32_t client);

    /// All values in the order of the model, as they were at the end of `iteration`: those of a client; -1: of the
    /// first.
    [[nodiscard]] std::vector<double> of(int client, int64_t iteration) const;

  private:
    struct change {
        int64_t iteration;
        std::vector<double> values;  ///< of all parameters
    };
    const segment& segment_;
    const model& data_;
    std::vector<std::deque<change>> changes_;  ///< [client], ascending; empty: as they were at open
};

}  // namespace halcyon::offload
