#include "policy/ledger.hpp"

#include <algorithm>
#include <cmath>

#include "policy/sound_values.hpp"

namespace halcyon::policy {

double ledger::decayed(const entry& one, double now_s) const {
    // A clock that went back decays nothing.
    return one.used_s * std::exp2(-std::max(now_s - one.at_s, 0.0) / half_life_s_);
}

void ledger::charge(int64_t key, double turn_s, double now_s) {
    if (!sound::positive(turn_s) || !std::isfinite(now_s)) return;
    auto at = std::ranges::lower_bound(entries_, key, {}, &entry::key);
    if (at == entries_.end() || at->key != key) at = entries_.insert(at, {key, 0, now_s});
    *at = {key, decayed(*at, now_s) + turn_s, now_s};
}

double ledger::used_s(int64_t key, double now_s) const {
    const auto at = std::ranges::lower_bound(entries_, key, {}, &entry::key);
    return at == entries_.end() || at->key != key ? 0 : decayed(*at, now_s);
}

}  // namespace halcyon::policy
