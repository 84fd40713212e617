#include "coordinate/coordinator/job.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "coordinate/coordinator/settings.hpp"
#include "policy/sound_values.hpp"

namespace halcyon::coordinate {

namespace {

/// A phase that goes on has something left, or decisions would take it for over: behind its forecast end as much again
/// as it is late.
constexpr double least_left_s = 1e-3;
/// Below its part of the storage, by whatever else slows an application down: as much as a forecast may be short by
/// (forecast_trust.cpp).
constexpr double most_slow_down = 16;
/// Agents know more exactly which bytes moved when. But of the speed that the bytes of a second or so have, relative to
/// those of times alone, no less than this is believed.
constexpr double least_of_measured = 0.5;
/// Moved alone, until the speed alone is known; or beside the same others, until that speed is.
constexpr double known_after_s = moved_alone::known_after_s;
/// Any will do to tell small phases from large ones.
constexpr double first_bytes_per_s = 1e8;

/// Nodes that have moved alone.
struct some_nodes {
    double bytes_per_s = 0;
    double seconds = never;  ///< of the one that is known least
    int64_t count = 0;

    void add(const mean_speed& one) { add(some_nodes{one.bytes_per_s(), one.seconds(), 1}); }
    void add(const some_nodes& others) {
        bytes_per_s += others.bytes_per_s;
        seconds = std::min(seconds, others.seconds);
        count += others.count;
    }
};

double left_after(double left_s, double worked_s) {
    const double still_s = left_s - worked_s;
    return std::max(least_left_s, still_s > 0 ? still_s : -still_s);
}

}  // namespace

bool job::connected() const {
    return std::ranges::any_of(agents, [](const agent& one) { return one.connection != 0; });
}

void agent::note_left(double worked_s) {
    const bool any_left = phase && (phase->bytes_left > 0 || phase->left_s > 0);
    size_told = size_told || any_left;
    bytes_told = bytes_told || (phase && phase->bytes_left > 0);
    if (any_left || !size_told)
        ran_out_worked_s = never;
    else
        ran_out_worked_s = std::min(ran_out_worked_s, worked_s);
}

void agent::note_beside(const begun_bytes::moved& moved, double movers_since_s, double now_s) {
    if (beside.since_s != movers_since_s) beside = {movers_since_s, mean_speed{1}};
    if (!moved.is_after(movers_since_s, now_s)) return;
    beside.speed.add(static_cast<double>(moved.bytes), moved.seconds);
}

bool job::stopped_within(const begun_bytes::moved& moved, double now_s) const {
    return has.ending() && !moved.is_before(recalled_s, now_s);
}

void job::begin_phase(agent& one, const inform& what) {
    in_phase_ += one.phase ? 0 : 1;
    one.phase = what;
}

void job::end_phase(agent& one) {
    in_phase_ -= one.phase ? 1 : 0;
    one.phase.reset();
    one.size_told = one.bytes_told = false;
    one.ran_out_worked_s = never;
    one.under_way = 0;
    one.speed.phase_ended();
}

bool job::calls_under_way() const {
    return std::ranges::any_of(agents, [](const agent& one) { return one.under_way > 0; });
}

bool job::expects_phase() const {
    return std::ranges::any_of(agents, [](const agent& one) { return one.next.has_value(); });
}

bool job::has_lease_out() const {
    return std::ranges::any_of(agents, [](const agent& one) { return one.lease != 0; });
}

/// Whose turn is being taken back counts as stopped already: that was decided, and the next decision builds on it.
policy::movement job::state_now() const {
    if (in_phase()) {
        if (has.stage() == turn_stage::held) return policy::movement::moving;
        return moved_bytes > 0 ? policy::movement::interrupted : policy::movement::waiting;
    }
    return expects_phase() ? policy::movement::expected : policy::movement::computing;
}

double job::part_of_each() const {
    return 1 / static_cast<double>(1 + others);
}

/// Where no speed was reported, all that move are taken to be equally fast.
double job::worked_until(double now_s) const {
    if (!moves()) return worked_s;
    return worked_s + std::max(0.0, now_s - worked_at_s) * (speed > 0 ? speed : part_of_each());
}

void job::work(double now_s) {
    worked_s = worked_until(now_s);
    worked_at_s = now_s;
}

/// Work is counted by it, and forecasts run out by it. None near 0 is believed: who tells one would have a phase that
/// never goes on, so that its end would be believed to be as near as ever, and no forecast would be found to be short.
/// Nor one much below what the bytes say, nor above 1: the end would move away while the phase goes on.
void job::hear_speed(double told) {
    if (!(told > 0)) return;
    double least = part_of_each() / most_slow_down;
    const alone_speed& usual = lately_.alone;
    if (usual.is_known() && usual.bytes_per_s > 0)
        least = std::max(least, std::min(1.0, lately_.bytes_per_s / usual.bytes_per_s) * least_of_measured);
    speed = std::clamp(told, least, 1.0);
}

bool job::look(double now_s, double movers_since_s) {
    if (now_s - looked_s_ < between_looks_s) return false;
    looked_s_ = now_s;
    ++looks_;
    lately_ = {
        .alone = alone(now_s),
        .bytes_per_s = bytes_per_s(),
        .known_bytes_per_s = known_bytes_per_s(),
        .processes = processes(),
        .nodes = nodes(),
        .in_phase = agents_in_phase(),
        .calls_under_way = calls_under_way(),
        .beside_bytes_per_s = bytes_per_s_beside(movers_since_s),
        .beside_since_s = movers_since_s,
    };
    return true;
}

int64_t job::processes() const {
    int64_t most = 1;
    for (const agent& one : agents) most = std::max(most, one.processes);
    return most;
}

int64_t job::nodes() const {
    if (agents.size() == 1) return std::max<int64_t>(1, agents.front().nodes);  // nothing to count, as mostly
    std::array<int64_t, most_mounts> of_mount{};
    int64_t most = 0;
    for (const agent& one : agents) most = std::max({most, one.nodes, ++of_mount[one.mount]});
    return most;
}

int64_t job::bytes_left() const {
    int64_t sum = 0;
    for (const agent& one : agents)
        if (one.phase) sum = std::min(most_bytes_together, sum + one.phase->bytes_left);
    return sum;
}

double job::bytes_per_s() const {
    const auto is_not_known = [](const agent& one) { return one.phase && !(one.speed.bytes_per_s() > 0); };
    return std::ranges::any_of(agents, is_not_known) ? 0 : known_bytes_per_s();
}

double job::known_bytes_per_s() const {
    double sum = 0;
    for (const agent& one : agents) sum += one.phase ? one.speed.bytes_per_s() : 0;
    return sum;
}

/// A node that begins later than the others has told too little for a while: without it, the application would seem to
/// be slow.
std::optional<double> job::bytes_per_s_beside(double movers_since_s) const {
    double sum = 0;
    for (const agent& one : agents) {
        if (!one.phase) continue;
        const double told_s = one.beside.since_s == movers_since_s ? one.beside.speed.seconds() : 0;
        if (told_s >= known_after_s)
            sum += one.beside.speed.bytes_per_s();
        else if (told_s > 0 || one.under_way > 0)
            return std::nullopt;
    }
    return sum;
}

/// One that is larger than those who were seen alone may take as many times what they did.
double job::usual_by_others() const {
    const auto over = [](int64_t own, double others) { return others > 0 ? static_cast<double>(own) / others : 1; };
    const double larger = std::max(over(processes(), storage.alone_processes), over(nodes(), storage.alone_nodes));
    return storage.alone_bytes_per_s * std::max(1.0, larger);
}

/// The mean of the last seconds alone would be that of a slow one that has gone on for long: then all new applications
/// would seem to need the storage for ages.
double job::fastest_by_others() const {
    return std::max(usual_by_others(), storage.fastest_bytes_per_s);
}

/// The bandwidth, or any, of a storage that nobody has used yet. Where nobody says what it bears, as much as it was
/// seen to: a small one times the size of a large one would be any speed.
double job::speed_by_others() const {
    const double usual = fastest_by_others();
    if (storage.bytes_per_s > 0) return usual > 0 ? std::min(usual, storage.bytes_per_s) : storage.bytes_per_s;
    if (!(usual > 0)) return first_bytes_per_s;
    const double seen = std::max(storage.most_bytes_per_s, storage.alone_bytes_per_s);
    return seen > 0 ? std::min(usual, seen) : usual;
}

/// The first reports of the nodes of a phase do not come at once, and speeds are known one report later. Without all of
/// them the application would seem to be smaller than it is, until enough is known of some: one that begins later than
/// the others takes nothing from that, nor what it tells first. A node that moves nothing has no part in it.
job::alone_speed job::alone(double now_s) const {
    constexpr double first_reports_within_s = 0.5;
    const bool has_phase = in_phase();
    some_nodes known, hardly, hardly_and_young;
    int64_t not_known = 0, young = 0;
    for (const agent& one : agents) {
        if (has_phase && !one.phase) continue;
        const bool is_young = has_phase && now_s - one.phase_told_s < first_reports_within_s;
        if (one.alone.seconds() >= known_after_s)
            known.add(one.alone);
        else if (one.alone.seconds() > 0)
            (is_young ? hardly_and_young : hardly).add(one.alone);
        else if (is_young)
            ++young;
        else if (has_phase)
            not_known += one.phase->bytes_moved > 0 ? 1 : 0;
    }
    int64_t left_out = young;
    if (known.count > 0) {  // the others make them no less known
        left_out += hardly_and_young.count;
        hardly.seconds = never;
    } else {
        if (young > 0) return {};
        hardly.add(hardly_and_young);
    }
    known.add(hardly);
    if (known.count == 0) return {};
    alone_speed found{known.bytes_per_s, known.seconds};
    found.of_all = not_known == 0 && left_out == 0;
    found.bytes_per_s *= static_cast<double>(known.count + not_known) / static_cast<double>(known.count);
    return found;
}

double job::most_demand(double now_s) const {
    // Above, it takes all: no speed is as exact. Towards that it rises faster, so that it never jumps.
    constexpr double all = 0.9, nearly_all = 0.8;
    if (!(storage.bytes_per_s > 0)) return 1;
    const alone_speed own = alone(now_s);
    double usual = own.bytes_per_s;
    if (!own.is_known()) {
        // As much as any other: who is taken for too large waits, who is taken for too small slows others down. What it
        // moves beside others is a part of it, of a new one at least; without any other, nothing says how large a part.
        if (fills_storage || !(fastest_by_others() > 0)) return 1;
        const double beside_others = worked_s > known_after_s ? bytes_per_s() : 0;
        usual = std::max(fastest_by_others(), beside_others);
    }
    const double share = usual / storage.bytes_per_s;
    if (!(share > 0) || share >= all) return 1;
    return share <= nearly_all ? share : nearly_all + (share - nearly_all) * (1 - nearly_all) / (all - nearly_all);
}

/// The nodes of an application begin within moments; until then, those that have not told of the phase are taken to be
/// like those that have: times as many bytes.
double job::not_told(double now_s) const {
    if (now_s - arrived_s > all_begin_within_s) return 1;
    const int64_t told = agents_in_phase();
    // A node of several mounts tells of each.
    return told > 0 ? std::max(1.0, static_cast<double>(nodes()) / static_cast<double>(told)) : 1;
}

/// By whatever moves beside it at present; 1: not known.
double job::slowed_down(const alone_speed& usual) const {
    const double now = bytes_per_s();
    return now > 0 && usual.is_known() ? std::max(1.0, usual.bytes_per_s / now) : 1;
}

/// By its own time alone; until that is long enough, by the others that moved alone for the rest. 0: not known.
double job::speed_alone(const alone_speed& usual) const {
    const double part = std::min(1.0, usual.seconds / known_after_s);
    return fastest_by_others() > 0 ? std::lerp(speed_by_others(), usual.bytes_per_s, part) : usual.bytes_per_s;
}

double job::left_s(double now_s) const {
    const auto bytes = static_cast<double>(bytes_left());
    const alone_speed usual = alone(now_s);
    const double slower = slowed_down(usual);
    const double will_tell = not_told(now_s);
    const double by_others_s = bytes * will_tell / speed_by_others();
    const double all_bytes_per_s = speed_alone(usual);
    const double each_bytes_per_s =
        all_bytes_per_s / (will_tell * static_cast<double>(std::max<int64_t>(1, agents_in_phase())));
    const double done_s = worked_until(now_s);
    double longest_s = -1;
    for (const agent& one : agents) {
        if (!one.phase) continue;
        double left_s = -1, told_worked_s = one.left_told_worked_s;
        if (one.phase->left_s > 0) {
            left_s = one.phase->left_s;
        } else if (one.phase->bytes_left > 0 && one.speed.bytes_per_s() > 0) {
            // By all nodes until the speed of each is known well.
            const bool by_all = usual.bytes_per_s > 0 && one.speed.known() < 1;
            const double its = one.speed.bytes_per_s();
            const double known = each_bytes_per_s > 0 ? std::lerp(each_bytes_per_s, its, one.speed.known()) : its;
            left_s = by_all ? bytes / all_bytes_per_s : static_cast<double>(one.phase->bytes_left) / (known * slower);
            told_worked_s = one.bytes_told_worked_s;
        } else if (one.ran_out_worked_s < never) {
            left_s = 0;
            told_worked_s = one.ran_out_worked_s;
        } else if (one.phase->alone_s > 0) {
            left_s = one.phase->alone_s;
        } else if (one.phase->bytes_left > 0) {
            left_s = by_others_s;
            told_worked_s = one.bytes_told_worked_s;
        }
        if (left_s < 0) continue;
        longest_s = std::max(longest_s, left_after(left_s, done_s - told_worked_s));
    }
    // Of which nothing is known: what has gone on for some time goes on for as long again.
    if (longest_s < 0 && done_s > policy::sound::unknown_s) longest_s = done_s;
    return trust.left_s(longest_s, done_s);
}

/// It begins with the first agent, and takes as long as the longest.
void job::describe_next(policy::application& into, double now_s) const {
    if (!expects_phase()) return;
    into.arrived_s = never;
    into.probability = 0;
    into.weight = 1;
    for (const agent& one : agents) {
        if (!one.next) continue;
        into.arrived_s = std::min(into.arrived_s, std::max(now_s, one.next_told_s + one.next->in_s));
        into.probability = std::max(into.probability, one.next->probability);
        into.alone_s = std::max(into.alone_s, one.next->alone_s);
        into.demand = std::min(1.0, into.demand + one.next->demand);
        into.bytes_left = std::min(most_bytes_together, into.bytes_left + one.next->bytes);
    }
    into.demand = std::min(into.demand, most_demand(now_s));
    into.left_s = trust.factor() * into.alone_s;
}

void job::describe(policy::application& into, double now_s) const {
    into.id = id;
    into.state = state;
    into.processes = processes();
    into.nodes = nodes();
    into.account = account_key;
    into.account_weight = account_weight;
    into.bytes_left = bytes_left();
    into.left_s = left_s(now_s);
    into.arrived_s = arrived_s;
    into.since_s = since_s;
    into.waited_s = waited_s;
    into.probability = 1;
    into.alone_s = into.demand = into.weight = into.between_starts_s = 0;
    into.targets.clear();
    if (!in_phase()) return describe_next(into, now_s);
    into.targets = targets;
    for (const agent& one : agents) {
        if (!one.phase) continue;
        into.alone_s = std::max(into.alone_s, one.phase->alone_s);
        into.demand = std::min(1.0, into.demand + one.phase->demand);
        into.weight += one.phase->weight;
        into.between_starts_s = std::max(into.between_starts_s, one.phase->between_starts_s);
    }
    into.demand = std::min(into.demand, most_demand(now_s));
    if (into.left_s >= 0) into.alone_s = std::max(into.alone_s, worked_until(now_s) + into.left_s);
    // Agents know more than was seen here, e.g. phases before a restart. But a short time is priority under set-10, so
    // none is believed that is shorter than what was seen, or than the phase.
    into.between_starts_s = std::max({into.between_starts_s, between_starts.mean(), into.alone_s});
}

}  // namespace halcyon::coordinate
