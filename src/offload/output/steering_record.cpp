#include "offload/output/steering_record.hpp"

#include <bit>

#include "base/clock.hpp"
#include "base/node_identity.hpp"

namespace halcyon::offload {

std::optional<steering_record> steering_record::of(const event_record& e, const model& m) {
    if (e.index >= m.parameters.size() || !m.parameters[e.index].is_steerable) return std::nullopt;
    return steering_record{e.sequence,
                           m.parameters[e.index].name,
                           std::bit_cast<double>(e.value[0]),
                           e.iteration,
                           e.value[1],
                           e.value[3],
                           e.value[2],
                           host_name()};
}

std::string steering_record::text() const {
    return "parameter '" + parameter + "' is " + show(value) + " from iteration " + std::to_string(iteration) +
           " on: request " + std::to_string(request) + ", asked by " + steering_user(process, user) + " on " + host +
           " " + std::to_string((realtime_ns() - asked_ns) / 1'000'000) + " ms before";
}

std::string steering_user(int64_t process, int64_t user) {
    const std::string which = process > 0 ? std::to_string(process) : "(in another PID namespace)";
    return "process " + which + " of user " + std::to_string(user);
}

}  // namespace halcyon::offload
