#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halcyon::logfs {

/// A name in the folder of `path` for what is on its way there or away: `<folder>/.halcyon-<what>-<id>`. Not made of
/// the path's own name, which may be as long as names can be.
inline std::string hidden_name(const std::string& path, std::string_view what, uint64_t id) {
    return path.substr(0, path.rfind('/') + 1) + ".halcyon-" + std::string(what) + "-" + std::to_string(id);
}

}  // namespace halcyon::logfs
