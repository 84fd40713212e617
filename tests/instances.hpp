#pragma once

#include <cstdint>
#include <cstdlib>

namespace halcyon {

/// How many instances a test looks at: `some` in `make test`, `all` in `make test-full` (halcyon_all_instances of
/// tests/CMakeLists.txt).
inline uint32_t instances(uint32_t some, uint32_t all) {
    return std::getenv("HALCYON_ALL_INSTANCES") != nullptr ? all : some;
}

}  // namespace halcyon
