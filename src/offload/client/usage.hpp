#pragma once

#include <string>
#include <utility>

#include "base/error.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// A call that makes no sense.
inline failure usage(std::string message) {
    return {error_kind::usage, std::move(message), 0};
}

/// "'theta'", or "'theta' block 2" where a client has several.
inline std::string block_name(const variable& v, int block) {
    return v.blocks_per_client == 1 ? "'" + v.name + "'" : "'" + v.name + "' block " + std::to_string(block);
}

}  // namespace halcyon::offload
