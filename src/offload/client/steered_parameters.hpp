#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// The steerable parameters of a client, in the order of model::steerable(), and on rank 0 what users asked of them:
/// rank 0 takes it out of the mailbox of its segment (see steering_box) and says so to the server. The values that rank
/// 0 then has become those of all ranks (see steering_round). Knows nothing of MPI.
///
/// Used by one thread at a time. Allocates only where a value has changed.
class steered_parameters {
  public:
    /// What a session does for it.
    struct session_calls {
        std::function<result<void>(std::string_view name, double value)> set;
        /// To the server, where there is one.
        std::function<result<void>(const event_record&)> tell;
        /// A line for the log of the node's server.
        std::function<void(const std::string&)> log;
    };
    /// `shared`: null where there is no server from the start, and nobody can steer.
    steered_parameters(const model& data, const segment* shared, session_calls calls);

    [[nodiscard]] size_t count() const { return ids_.size(); }
    void copy_values(std::span<double> to) const;
    /// Each value that differs is set. Failure (usage): one is outside its bounds; the others are set all the same.
    result<void> set_values(std::span<const double> values);

    /// Rank 0: sets what was asked since the last call, from `iteration` on, and leaves its values for the server.
    /// A request that makes no sense is left out, which the log says.
    result<void> take_requests(int64_t iteration);

  private:
    result<void> take(size_t number, const steering_request& request, int64_t iteration);
    void publish(int64_t iteration);

    const model& model_;
    const segment* segment_;
    session_calls calls_;
    std::vector<uint32_t> ids_;
    std::vector<uint64_t> taken_;  ///< of each parameter: the number of its last request
    uint64_t mail_version_ = 0;
    bool published_ = false;
    steering_values last_{};  ///< as published
};

}  // namespace halcyon::offload
