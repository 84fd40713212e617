#pragma once

#include <cstdint>
#include <cstdlib>

namespace halcyon::policy {

/// Of how many instances a test compares the least cost: `all` in policy_proofs_test, `some` in policy_test.
inline uint32_t instances(uint32_t some, uint32_t all) {
    return std::getenv("HALCYON_ALL_INSTANCES") != nullptr ? all : some;
}

}  // namespace halcyon::policy
