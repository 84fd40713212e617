#include "coordinate/coordinator/storage_limit.hpp"

#include <algorithm>
#include <utility>

#include "coordinate/coordinator/moved_alone.hpp"
#include "policy/interference.hpp"

namespace halcyon::coordinate {

namespace {

/// Two that take 0.7 of the storage each have 0.71 of their speeds, and still gain from moving side by side.
constexpr double much_slower = 0.6;
/// Speeds are those of a second or so; a moment says nothing.
constexpr double slow_for_s = 0.5;

}  // namespace

bool storage_limit::is_known(const job& one, double now_s) {
    return one.alone(now_s).is_known();
}

/// Than its own speed alone, or what is believed of it by others.
bool storage_limit::is_slow(const job& one, double now_s) {
    const double now = one.bytes_per_s();
    const job::alone_speed own = one.alone(now_s);
    const double usual = own.is_known() ? own.bytes_per_s : one.usual_by_others();
    return now > 0 && now < much_slower * usual;
}

bool storage_limit::reported(registry& all, job& of, double movers_since_s, double now_s) {
    if (!(of.storage.bytes_per_s > 0)) return false;  // each is taken to use all of it
    if (of.others == 0 || of.worked_s <= moved_alone::known_after_s || !is_slow(of, now_s)) {
        of.slow_since_s = never;
        return false;
    }
    of.slow_since_s = std::max(std::min(of.slow_since_s, now_s), movers_since_s);
    if (now_s - of.slow_since_s < slow_for_s) return false;
    of.slow_since_s = now_s;  // the next look is as long away
    const bool known = is_known(of, now_s);
    if (!known && of.fills_storage) return false;
    bool changed = false, is_small = false;
    for (const uint64_t id : all.active()) {
        job& one = *all.find_job(id);
        if (id == of.id || !one.counted_mover || !policy::share_targets(of.targets, one.targets)) continue;
        const bool one_known = is_known(one, now_s);
        if (known && !one_known) changed = !std::exchange(one.fills_storage, true) || changed;
        is_small = is_small || (one_known && !is_slow(one, now_s));
    }
    if (!known && !is_small) changed = !std::exchange(of.fills_storage, true);
    return changed;
}

}  // namespace halcyon::coordinate
