#include "offload/store/store_traits.hpp"

namespace halcyon::offload {

std::string not_collective(const store& s) {
    return "stores of type '" + s.type + "' cannot be written by several servers together; use hdf5";
}

result<void> check_settings(const store& s, const store_traits& traits) {
    if (s.collective && !traits.is_collective)
        return failure{error_kind::config, s.collective_where + ": " + not_collective(s), 0};
    if (!s.view_where.empty() && !traits.has_view())
        return failure{error_kind::config,
                       s.view_where + ": stores of type '" + s.type +
                           "' have no view, whose interval this would be; remove the setting, or use hdf5",
                       0};
    return {};
}

}  // namespace halcyon::offload
