#pragma once

#include <cstdint>
#include <string>

#include "coordinate/coordinator/settings.hpp"
#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {

/// Why the coordinator does not do what it was asked for, and the way out: texts for people.
namespace refusals {

std::string too_many_connections(uint32_t user, const settings& how);
std::string too_many_messages(uint32_t user, const settings& how);
std::string too_many_applications(uint32_t user, const settings& how);
std::string for_administrators(uint32_t user);
std::string not_registered(const to_coordinator& message);

}  // namespace refusals
}  // namespace halcyon::coordinate
