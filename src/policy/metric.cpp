#include "policy/metric.hpp"

#include <algorithm>

#include "policy/sound_values.hpp"

namespace halcyon::policy {

double cost_per_s(const application& one, metric of) {
    const double account = std::min(sound::or_else(one.account_weight, 1), 1e12);
    switch (of) {
        case metric::sum_of_times:
            break;
        case metric::sum_of_interference_factors:
            return account / sound::alone_s(one);
        case metric::cpu_hours:
            return account * static_cast<double>(std::max<int64_t>(one.processes, 1)) / 3600;
        case metric::energy:
            return account * static_cast<double>(std::max<int64_t>(one.nodes, 1)) *
                   std::min(sound::or_else(one.watts_per_node, 0), 1e12);
    }
    return account;
}

}  // namespace halcyon::policy
