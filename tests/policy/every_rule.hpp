#pragma once

#include <array>

#include "policy/decide.hpp"

namespace halcyon::policy {

constexpr std::array every_rule{rule::interfere,  rule::fcfs,   rule::interrupt, rule::delay,
                                rule::fair_share, rule::set_10, rule::dynamic};

}  // namespace halcyon::policy
