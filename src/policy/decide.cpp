#include "policy/decide.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "policy/contender.hpp"
#include "policy/dynamic.hpp"
#include "policy/groups.hpp"
#include "policy/sound_values.hpp"

namespace halcyon::policy {

namespace {

/// Of the expected phases, those that a group's decision looks at; none for which its search would no longer be exact.
size_t most_expected(size_t present) {
    return present <= dynamic::exact ? std::min<size_t>(2, dynamic::exact - present) : 2;
}

settings sound_settings(const settings& how) {
    const settings usual;
    settings made = how;
    made.starvation_s = sound::or_else(how.starvation_s, usual.starvation_s);
    made.relief_s = sound::or_else(how.relief_s, usual.relief_s);
    made.slice_s = sound::or_else(how.slice_s, usual.slice_s);
    made.interruption_s = how.interruption_s >= 0 && std::isfinite(how.interruption_s)
                              ? std::min(how.interruption_s, sound::longest_s)
                              : usual.interruption_s;
    made.least_gain = how.least_gain > 0 && how.least_gain < 1 ? how.least_gain : 0;
    made.all_begin_within_s = std::min(sound::or_else(how.all_begin_within_s, 0), sound::longest_s);
    made.interrupts_after_s = std::min(sound::or_else(how.interrupts_after_s, 0), sound::longest_s);
    made.tolerated_factor = how.tolerated_factor >= 1 && std::isfinite(how.tolerated_factor) ? how.tolerated_factor
                                                                                             : usual.tolerated_factor;
    made.least_probability = how.least_probability >= 0 ? how.least_probability : usual.least_probability;
    made.ask_again_s = sound::or_else(how.ask_again_s, usual.ask_again_s);
    return made;
}

/// Sums of times, as where it is asked to decide again: their difference may be less by rounding.
bool is_starving(const contender& one, const circumstances& in) {
    const double since_s = sound::since_s(*one.of, in.now_s);
    if (!one.moving) return in.now_s >= since_s + in.how.starvation_s;
    const bool has_starved = sound::or_else(one.of->waited_s, 0) >= in.how.starvation_s * (1 - 1e-9);
    return has_starved && in.now_s < since_s + in.how.relief_s;
}

/// Nobody waits longer than the bound: those who have move now, and for a while. Beside them move only those of the
/// rule's choice that share nothing with them.
void relieve_starving(const group& of, const circumstances& in, turns& into) {
    if (std::ranges::none_of(of.present, [&](const contender& one) { return is_starving(one, in); })) return;
    const std::span<const char> moves = into.moves(of.present.size());
    bool let_in = true;
    for (uint32_t i = 0; i < of.present.size(); ++i)
        let_in = let_in && (moves[i] != 0 || !is_starving(of.present[i], in));
    if (!let_in) {
        into.order = into.movers;
        into.let_nobody_move();
        for (uint32_t i = 0; i < of.present.size(); ++i) {
            if (is_starving(of.present[i], in)) into.movers.push_back(i);
        }
        for (const uint32_t i : into.order) into.add_if_apart(of, i);
        into.why = reason::starving;
    }
    for (const contender& one : of.present) {
        if (!is_starving(one, in)) continue;
        const double begin_s = one.moving ? sound::since_s(*one.of, in.now_s) : in.now_s;
        into.until_s = std::min(into.until_s, begin_s + in.how.relief_s);
    }
}

/// Until then, processes of it may begin that nothing is known of. Long ago: all have.
double all_begun_s(const contender& one, const circumstances& in) {
    const bool all_have = sound::weight(*one.of) >= static_cast<double>(one.of->processes);
    return all_have ? -std::numeric_limits<double>::infinity() : one.arrived_s + in.how.interrupts_after_s;
}

/// Until when all processes have begun of those for which others are to stop; long ago: nobody is to stop.
double stops_wait_until_s(const group& of, const circumstances& in, turns& planned) {
    constexpr double long_ago_s = -std::numeric_limits<double>::infinity();
    const std::span<const char> moves = planned.moves(of.present.size());
    bool stops = false;
    double begun_s = long_ago_s;
    for (uint32_t i = 0; i < of.present.size(); ++i) {
        if (of.present[i].moving)
            stops = stops || moves[i] == 0;
        else if (moves[i] != 0)
            begun_s = std::max(begun_s, all_begun_s(of.present[i], in));
    }
    return stops ? begun_s : long_ago_s;
}

}  // namespace

struct decider::workspace {
    /// A present application, and where the decision about it belongs.
    struct numbered {
        uint32_t group = 0;  ///< the first application of its group, in the order of arrival
        uint32_t index = 0;
    };

    std::vector<contender> present;   ///< in the order of arrival
    std::vector<contender> expected;  ///< likewise
    std::vector<const application*> forecast;
    std::vector<contender> grouped;   ///< `present`, the groups one after the other
    std::vector<numbered> numbers;
    std::vector<uint32_t> expected_group;
    std::vector<contender> group_expected;
    std::vector<contender> begun;        ///< of a group: those that move, and those all of whose processes have begun
    std::vector<uint32_t> begun_number;  ///< where they are in the group
    std::vector<char> moves;             ///< by number in the order of arrival
    target_groups targets;
    dynamic search;
    turns chosen;
    decision out;

    void collect(const situation& of, metric minimise, const circumstances& in, bool forecasts);
    void make_groups();
    /// Groups of more than one.
    [[nodiscard]] size_t count_searches() const;
    /// Returns the positions that were looked at.
    uint64_t decide_group(const group& of, rule by, const circumstances& in);
    uint64_t choose_dynamic(const group& of, circumstances in);
    void forecast_costs(const group& of, rule by, const circumstances& in);
    void report(const circumstances& in);
};

namespace {

contender contender_of(const application& one, metric minimise, double now_s) {
    return {&one, sound::arrived_s(one, now_s), sound::left_s(one), cost_per_s(one, minimise),
            one.state == movement::moving};
}

/// Within its caller: the comparison of two is a part of the sorting then.
void sort_by_arrival(std::vector<contender>& some) {
    std::ranges::sort(some, [](const contender& a, const contender& b) { return before(a, b); });
}

}  // namespace

void decider::workspace::collect(const situation& of, metric minimise, const circumstances& in, bool forecasts) {
    present.clear();
    expected.clear();
    forecast.clear();
    double left_s = 0;
    for (const application& one : of.applications) {
        if (policy::present(one)) {
            present.push_back(contender_of(one, minimise, in.now_s));
            left_s += present.back().left_s;
        } else if (one.state == movement::expected) {
            forecast.push_back(&one);
        }
    }
    sort_by_arrival(present);
    if (!forecasts || present.size() < 2) return;
    const double all_end_s = in.now_s + left_s / sound::free_share(of.unseen_share);
    for (const application* one : forecast) {
        const double probability = sound::probability(*one);
        // Who comes after all of those present have ended changes nothing now.
        if (probability < in.how.least_probability || probability <= 0) continue;
        if (sound::arrived_s(*one, in.now_s) > all_end_s || sound::left_s(*one) <= 0) continue;
        expected.push_back(contender_of(*one, minimise, in.now_s));
        expected.back().cost_per_s *= probability;
    }
    sort_by_arrival(expected);
}

/// Fills `grouped` and `numbers`, both by group.
void decider::workspace::make_groups() {
    targets.clear();
    for (const contender& one : present) targets.add(one.of->targets);
    numbers.clear();
    for (uint32_t i = 0; i < present.size(); ++i) {
        // Who has nothing left is never held back, and in nobody's way.
        if (present[i].left_s > 0) numbers.push_back({targets.group_of(i), i});
    }
    const auto in_order = [](const numbered& a, const numbered& b) {
        return a.group < b.group || (a.group == b.group && a.index < b.index);
    };
    if (!std::ranges::is_sorted(numbers, in_order)) std::ranges::sort(numbers, in_order);
    grouped.clear();
    for (const numbered& one : numbers) grouped.push_back(present[one.index]);
    expected_group.clear();
    for (const contender& one : expected) expected_group.push_back(targets.group_at(one.of->targets));
}

void decider::workspace::forecast_costs(const group& of, rule by, const circumstances& in) {
    if (by != rule::dynamic) search.look_at(of, in);
    for (const rule other : {rule::interfere, rule::fcfs, rule::interrupt})
        out.alternatives.push_back({other, search.cost_of(other)});
    if (by == rule::dynamic) out.alternatives.push_back({by, search.cost()});
}

size_t decider::workspace::count_searches() const {
    size_t count = 0;
    for (size_t i = 1; i < numbers.size(); ++i) {
        const bool second = i == 1 || numbers[i].group != numbers[i - 2].group;
        count += second && numbers[i].group == numbers[i - 1].group ? 1 : 0;
    }
    return count;
}

/// Nobody is to stop for an application as long as not all that it needs is known: until then, it is decided as if
/// that one were not there. Returns the positions that were looked at.
uint64_t decider::workspace::choose_dynamic(const group& of, circumstances in) {
    search.choose(of, in, chosen);
    const uint64_t positions = search.positions();
    const double wait_until_s = stops_wait_until_s(of, in, chosen);
    if (in.now_s >= wait_until_s) return positions;
    begun.clear();
    begun_number.clear();
    bool others_wait = false;
    for (uint32_t i = 0; i < of.present.size(); ++i) {
        const contender& one = of.present[i];
        if (!one.moving && in.now_s < all_begun_s(one, in)) continue;
        others_wait = others_wait || !one.moving;
        begun.push_back(one);
        begun_number.push_back(i);
    }
    uint64_t more = 0;
    if (others_wait) {
        chosen.clear(in.now_s + in.how.ask_again_s);
        const uint64_t left = in.how.search_positions - std::min(in.how.search_positions, positions);
        in.how.search_positions = std::max(left, dynamic::least_positions);
        search.choose({begun, of.expected}, in, chosen);
        more = search.positions();
        for (uint32_t& one : chosen.movers) one = begun_number[one];
    } else {
        chosen.let_nobody_move();
        chosen.movers = begun_number;
    }
    chosen.until_s = std::min(chosen.until_s, wait_until_s);
    return positions + more;
}

uint64_t decider::workspace::decide_group(const group& of, rule by, const circumstances& in) {
    uint64_t positions = 0;
    chosen.clear(in.now_s + in.how.ask_again_s);
    const auto first_alternative = static_cast<uint32_t>(out.alternatives.size());
    if (of.present.size() == 1) {
        chosen.movers.push_back(0);
    } else {
        switch (by) {
            case rule::interfere:
                choose_all(of, chosen);
                break;
            case rule::fcfs:
                choose_first(of, chosen);
                break;
            case rule::interrupt:
                choose_newest(of, chosen);
                break;
            case rule::delay:
                choose_tolerated(of, in, chosen);
                break;
            case rule::fair_share:
                choose_least_served_account(of, in, chosen);
                break;
            case rule::set_10:
                choose_least_served_set(of, in, chosen);
                break;
            case rule::dynamic:
                positions = choose_dynamic(of, in);
                break;
        }
        relieve_starving(of, in, chosen);
        if (in.how.alternatives) forecast_costs(of, by, in);
    }
    uint64_t least_id = UINT64_MAX;
    for (const contender& one : of.present) least_id = std::min(least_id, one.of->id);
    out.groups.push_back({chosen.why, static_cast<uint32_t>(of.present.size()),
                          static_cast<uint32_t>(of.expected.size()), least_id, first_alternative,
                          static_cast<uint32_t>(out.alternatives.size())});
    out.ask_again_s = std::min(out.ask_again_s, chosen.until_s);
    return positions;
}

void decider::workspace::report(const circumstances& in) {
    for (uint32_t i = 0; i < present.size(); ++i) {
        const contender& one = present[i];
        if (moves[i] != 0) {
            out.move.push_back(one.of->id);
            continue;
        }
        if (one.moving) out.stop.push_back(one.of->id);
        const double since_s = one.moving ? in.now_s : sound::since_s(*one.of, in.now_s);
        out.ask_again_s = std::min(out.ask_again_s, since_s + in.how.starvation_s);
    }
}

decider::decider() : work_(std::make_unique<workspace>()) {}
decider::~decider() = default;
decider::decider(decider&&) noexcept = default;
decider& decider::operator=(decider&&) noexcept = default;

const decision& decider::decide(const situation& of, rule by, metric minimise, double now_s, const settings& how) {
    workspace& w = *work_;
    circumstances in{&of, std::clamp(sound::finite_or(now_s, 0), -1e15, 1e15), sound_settings(how), false};
    w.out.move.clear();
    w.out.stop.clear();
    w.out.groups.clear();
    w.out.alternatives.clear();
    w.out.positions = 0;
    w.out.ask_again_s = in.now_s + in.how.ask_again_s;
    w.collect(of, minimise, in, by == rule::dynamic);
    w.make_groups();
    w.moves.assign(w.present.size(), 0);
    for (size_t i = 0; i < w.present.size(); ++i) w.moves[i] = static_cast<char>(w.present[i].left_s <= 0);
    in.ends_with_budget = in.how.search_budget < in.how.search_positions;
    uint64_t positions = std::min(in.how.search_positions, in.how.search_budget);
    size_t searches = w.count_searches();
    for (size_t begin = 0, end = 0; begin < w.numbers.size(); begin = end) {
        const uint32_t number = w.numbers[begin].group;
        while (end < w.numbers.size() && w.numbers[end].group == number) ++end;
        w.group_expected.clear();
        for (size_t k = 0; k < w.expected.size() && w.group_expected.size() < most_expected(end - begin); ++k) {
            if (w.expected_group[k] == number) w.group_expected.push_back(w.expected[k]);
        }
        if (end - begin > 1) in.how.search_positions = std::max(positions / searches--, dynamic::least_positions);
        const uint64_t looked_at =
            w.decide_group({std::span(w.grouped).subspan(begin, end - begin), w.group_expected}, by, in);
        w.out.positions += looked_at;
        positions -= std::min(positions, looked_at);
        for (const uint32_t i : w.chosen.movers) w.moves[w.numbers[begin + i].index] = 1;
    }
    w.report(in);
    return w.out;
}

decision decide(const situation& of, rule by, metric minimise, double now_s, const settings& how) {
    decider once;
    return once.decide(of, by, minimise, now_s, how);
}

}  // namespace halcyon::policy
