// Rules that divide time: fair share among accounts, and the sets of IO-Sets.
#include <algorithm>
#include <cmath>

#include "policy/contender.hpp"
#include "policy/sound_values.hpp"

namespace halcyon::policy {

namespace {

/// Milliseconds to weeks: no application has earlier or later sets than its phases can have, whatever it says.
constexpr int64_t least_set = -3, greatest_set = 6;

/// `had`: one of the two below. One that is within its slice goes on; then who had the least, and among equals who
/// arrived first.
void choose_least_served(const group& of, const circumstances& in,
                         double (*had)(const contender&, const circumstances&), turns& into) {
    const auto slice_end_s = [&](uint32_t i) {
        const contender& one = of.present[i];
        return one.moving ? sound::since_s(*one.of, in.now_s) + in.how.slice_s : in.now_s;
    };
    into.order.resize(of.present.size());
    into.served.resize(of.present.size());
    for (uint32_t i = 0; i < into.order.size(); ++i) {
        into.order[i] = i;
        into.served[i] = slice_end_s(i) > in.now_s ? -1 : had(of.present[i], in);
    }
    std::ranges::sort(into.order, [&](uint32_t a, uint32_t b) {
        return into.served[a] < into.served[b] || (into.served[a] == into.served[b] && a < b);
    });
    for (const uint32_t i : into.order) into.add_if_apart(of, i);
    const double first_end_s = slice_end_s(into.movers.front());
    into.why = first_end_s > in.now_s ? reason::slice_goes_on : reason::least_served;
    for (const uint32_t i : into.movers) {
        const double end_s = slice_end_s(i);
        into.until_s = std::min(into.until_s, end_s > in.now_s ? end_s : in.now_s + in.how.slice_s);
    }
}

}  // namespace

int64_t set_of(const application& one) {
    const double between_s = sound::or_else(one.between_starts_s, sound::or_else(one.alone_s, 1));
    return std::clamp(static_cast<int64_t>(std::llround(std::log10(between_s))), least_set, greatest_set);
}

double served_account(const contender& one, const circumstances& in) {
    const ledger* const accounts = in.of->accounts;
    const double had = accounts == nullptr ? 0 : accounts->used_s(one.of->account, in.now_s);
    return had / sound::or_else(one.of->account_weight, 1);
}

// IO-Sets: a set S_i that is active gets the share 10^-i over the sum of those of all active sets. As a share of time:
// turns go to the set that had the least for its priority.
double served_set(const contender& one, const circumstances& in) {
    const ledger* const sets = in.of->sets;
    const int64_t set = set_of(*one.of);
    const double had = sets == nullptr ? 0 : sets->used_s(set, in.now_s);
    return had * std::pow(10.0, static_cast<double>(set));
}

void choose_least_served_account(const group& of, const circumstances& in, turns& into) {
    choose_least_served(of, in, served_account, into);
}

void choose_least_served_set(const group& of, const circumstances& in, turns& into) {
    choose_least_served(of, in, served_set, into);
}

}  // namespace halcyon::policy
