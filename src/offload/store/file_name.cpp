#include <cstdio>

#include "offload/store/store.hpp"

namespace halcyon::offload {

std::string file_name(const std::string& simulation, const std::string& writer, int64_t first_iteration, int32_t part) {
    char number[48];
    std::snprintf(number, sizeof number, ".i%08lld", static_cast<long long>(first_iteration));
    std::string name = simulation + "." + writer + number;
    if (part > 0) {
        std::snprintf(number, sizeof number, ".p%02d", part);
        name += number;
    }
    return name + ".h5";
}

}  // namespace halcyon::offload
