#include "coordinate/coordinator/refusals.hpp"

#include <cmath>
#include <variant>

namespace halcyon::coordinate::refusals {

namespace {

std::string number(double value) {
    return std::to_string(std::llround(value));
}

}  // namespace

std::string too_many_connections(uint32_t user, const settings& how) {
    return "too many connections: user " + std::to_string(user) + " has " + std::to_string(how.per_user.connections) +
           ", as many as one user may; end a job, or ask the administrator to raise limits.connections";
}

std::string too_many_messages(uint32_t user, const settings& how) {
    return "too many messages: user " + std::to_string(user) + " may send " + number(how.per_user.messages_per_s) +
           " a second; come back later, or ask the administrator to raise limits.messages-per-second";
}

std::string too_many_applications(uint32_t user, const settings& how) {
    return "too many applications: user " + std::to_string(user) + " may have " +
           std::to_string(how.per_user.applications) + " registered, all users together " +
           std::to_string(how.most_applications) +
           "; end a job, or ask the administrator to raise limits.applications or limits.all-applications";
}

std::string for_administrators(uint32_t user) {
    // Root always is one, unless the user is only claimed.
    if (user == 0)
        return "claims over an insecure address never make an administrator: let 'listen' of coordinators.yaml name a "
               "Unix socket beside the address, such as [\"tcp:…\", \"unix:…\"], and ask there as root";
    return "user " + std::to_string(user) +
           " is no administrator: ask as root or as the daemon's user, or have the user named under 'administrators' "
           "of coordinators.yaml";
}

std::string not_registered(const to_coordinator& message) {
    const std::string_view type = std::visit([](const auto& m) { return std::string_view(m.type); }, message);
    return "'" + std::string(type) + "' of an agent that is not registered: send 'register' first";
}

}  // namespace halcyon::coordinate::refusals
