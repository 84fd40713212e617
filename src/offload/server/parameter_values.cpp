#include "offload/server/parameter_values.hpp"

#include <algorithm>
#include <utility>

#include "offload/model/parameter_check.hpp"

namespace halcyon::offload {

parameter_values::parameter_values(const segment& shared, const model& data)
    : segment_(shared), data_(data), changes_(shared.geometry().clients) {}

bool parameter_values::set(uint32_t client, uint32_t parameter, double value, int64_t iteration) {
    if (parameter >= data_.parameters.size() || !data_.parameters[parameter].is_mutable ||
        !check_parameter_value(data_.parameters[parameter], value))
        return false;
    auto& changes = changes_[client];
    if (changes.empty() || changes.back().iteration < iteration)
        changes.push_back({iteration, of(static_cast<int>(client), iteration)});
    changes.back().values[parameter] = value;
    parameter_value& kept = segment_.last_values(client)[parameter];
    kept.value.store(value, std::memory_order_relaxed);
    kept.known.store(1, std::memory_order_release);
    return true;
}

void parameter_values::forget_before(uint32_t client, int64_t iteration) {
    auto& changes = changes_[client];
    while (changes.size() > 1 && changes[1].iteration <= iteration) {
        changes.pop_front();
        changes.front().iteration = -1;  // whoever asks for earlier ones all the same gets these
    }
}

void parameter_values::resume(uint32_t client) {
    for (uint32_t p = 0; p < data_.parameters.size(); ++p) {
        const parameter_value& kept = segment_.last_values(client)[p];
        if (kept.known.load(std::memory_order_acquire) != 0)
            static_cast<void>(set(client, p, kept.value.load(std::memory_order_relaxed), 0));
    }
}

std::vector<double> parameter_values::of(int client, int64_t iteration) const {
    const auto& changes = changes_[static_cast<size_t>(std::max(client, 0))];
    const auto later =
        std::find_if(changes.begin(), changes.end(), [iteration](const change& c) { return c.iteration > iteration; });
    if (later != changes.begin()) return std::prev(later)->values;
    std::vector<double> at_open;
    for (const parameter& p : data_.parameters) at_open.push_back(p.value);
    return at_open;
}

}  // namespace halcyon::offload
