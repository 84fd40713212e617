#include "coordinate/coordinator/storage_limit.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "coordinate/coordinator/moved_alone.hpp"
#include "policy/interference.hpp"

namespace halcyon::coordinate {

namespace {

/// Two that take 0.7 of the storage each have 0.71 of their speeds, and still gain from moving side by side.
constexpr double much_slower = 0.6;
/// That move so many times as much together as one of them alone gain much: as two that take three quarters each.
constexpr double gains = 4.0 / 3;
/// Of what an application lacks: one that moves less than this part of it beside that application is not the cause.
constexpr double least_part = 0.1;
/// Speeds are those of half a second at least; a moment says nothing.
constexpr double slow_for_s = 0.5;

template <class Visitor>
void each_beside(registry& all, const job& of, Visitor&& visit) {
    for (const uint64_t id : all.active()) {
        job& one = *all.find_job(id);
        if (id != of.id && one.counted_mover && policy::share_targets(of.targets, one.targets)) visit(one);
    }
}

}  // namespace

/// Than its own speed alone, or what is believed of it by others.
bool storage_limit::is_slow(const job& one, double movers_since_s) {
    const double now = one.lately().beside(movers_since_s).value_or(0);
    const job::alone_speed& own = one.lately().alone;
    const double usual = own.is_known() ? own.bytes_per_s : one.usual_by_others();
    return now > 0 && now < much_slower * usual;
}

/// Of those whose speed alone is not known.
bool storage_limit::take_others_for_all(registry& all, const job& of, double movers_since_s) {
    const double alone = of.lately().alone.bytes_per_s, now = of.lately().beside(movers_since_s).value_or(0);
    double together = now;
    bool all_told = true;
    std::vector<job*> not_known;
    each_beside(all, of, [&](job& one) {
        const std::optional<double> told = one.lately().beside(movers_since_s);
        const double its = told.value_or(0);
        together += its;
        all_told = all_told && told.has_value();
        if (!one.lately().alone.is_known() && its >= least_part * (alone - now)) not_known.push_back(&one);
    });
    if (!all_told || together >= gains * alone) return false;
    bool changed = false;
    for (job* const one : not_known) changed = !std::exchange(one->fills_storage, true) || changed;
    return changed;
}

/// Where nothing shows that it is small.
bool storage_limit::take_for_all(registry& all, job& of, double movers_since_s) {
    bool is_small = false;
    each_beside(all, of, [&](const job& one) {
        is_small = is_small || (one.lately().alone.is_known() && !is_slow(one, movers_since_s));
    });
    return !is_small && !std::exchange(of.fills_storage, true);
}

bool storage_limit::reported(registry& all, job& of, double movers_since_s, double now_s) {
    if (!(of.storage.bytes_per_s > 0)) return false;  // each is taken to use all of it
    if (of.others == 0 || of.worked_s <= moved_alone::known_after_s || !is_slow(of, movers_since_s)) {
        of.slow_since_s = never;
        return false;
    }
    of.slow_since_s = std::max(std::min(of.slow_since_s, now_s), movers_since_s);
    if (now_s - of.slow_since_s < slow_for_s) return false;
    of.slow_since_s = now_s;  // the next look is as long away
    return of.lately().alone.is_known() ? take_others_for_all(all, of, movers_since_s)
                                        : take_for_all(all, of, movers_since_s);
}

}  // namespace halcyon::coordinate
