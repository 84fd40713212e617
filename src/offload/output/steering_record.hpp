#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// A steerable parameter whose value a user changed.
struct steering_record {
    uint64_t request = 0;  ///< its number
    std::string parameter;
    double value = 0;
    int64_t iteration = 0;  ///< the first with this value
    int64_t asked_ns = 0;
    int64_t user = 0, process = 0;  ///< of whoever asked
    std::string host;

    /// What an event of kind `steered` says, on this host; nullopt: no parameter of `m` can be meant.
    static std::optional<steering_record> of(const event_record& e, const model& m);
    /// "parameter 'kappa' is 0.3 from iteration 42 on: request 7, asked by process 77 of user 1000 on …"
    [[nodiscard]] std::string text() const;
};

/// "process 77 of user 1000"
std::string steering_user(int64_t process, int64_t user);

}  // namespace halcyon::offload
