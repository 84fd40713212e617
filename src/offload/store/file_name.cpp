#include <cstdio>

#include "offload/store/store.hpp"

namespace halcyon::offload {

std::string node_writer(int node) {
    std::string digits = std::to_string(node);
    return "n" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

std::string client_writer(int rank) {
    std::string digits = std::to_string(rank);
    return "c" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

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
