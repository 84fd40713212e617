#include "coordinate/simulated_workload.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "policy/decide.hpp"

namespace halcyon::coordinate {

namespace {

constexpr double bytes_per_s = 1e9;
constexpr double report_s = 0.25;
constexpr double nothing_s = 1e-9;
constexpr double never_s = std::numeric_limits<double>::infinity();

int64_t bytes(double alone_s) {
    return static_cast<int64_t>(alone_s * bytes_per_s);
}

/// No agent dies or is silent here: nobody has to look for that.
settings without_care(settings how) {
    how.heartbeat_s = how.dead_s = how.stalled_s = how.stop_s = 1e6;
    how.relearn_s = 0;
    return how;
}

}  // namespace

simulated_workload::simulated_workload(const periodic_workload& of, const settings& how, division by,
                                       const storage_model& on)
    : horizon_s_(of.horizon_s), by_(by), on_(on) {
    for (const periodic_application& each : of.all) {
        running one;
        one.of = &each;
        one.connection = all_.size() + 1;
        one.computes_until_s = each.iterations.front().computes_s;
        all_.push_back(one);
    }
    if (by != division::turns) return;
    told_.emplace(without_care(how), 1, 0);
    for (const running& one : all_) {
        told_->connected(one.connection, static_cast<uint32_t>(1000 + one.connection), false, 0);
        registration what;
        what.job = "job" + std::to_string(one.connection);
        what.node = "n";
        what.secret = "a secret that is long enough";
        told_->received(one.connection, what, 0);
    }
    settle();
}

void simulated_workload::run() {
    while (now_s_ < horizon_s_) {
        set_rates();
        go_to(std::min(next_event_s(), horizon_s_));
        happen();
        if (told_) settle();
    }
}

double simulated_workload::weight_of(const running& one) const {
    if (!one.in_phase) return 0;
    if (by_ == division::turns) return one.may_move && one.moves_from_s <= now_s_ ? 1 : 0;
    if (by_ == division::equal) return 1;
    if (by_ == division::shortest_first) return has_least_left(one) ? 1 : 0;
    const auto set_of = [](const running& some) {
        policy::application as;
        as.between_starts_s = some.history.between_starts_s();
        return policy::set_of(as);
    };
    const int64_t set = set_of(one);
    const bool first = std::ranges::none_of(all_, [&](const running& other) {
        const bool before =
            other.arrived_s < one.arrived_s || (other.arrived_s == one.arrived_s && other.connection < one.connection);
        return other.in_phase && before && set_of(other) == set;
    });
    return first ? std::pow(10.0, static_cast<double>(-set)) : 0;
}

bool simulated_workload::has_least_left(const running& one) const {
    return std::ranges::none_of(all_, [&](const running& other) {
        const bool less =
            other.left_s < one.left_s || (other.left_s == one.left_s && other.connection < one.connection);
        return other.in_phase && less;
    });
}

void simulated_workload::set_rates() {
    double sum = 0;
    int movers = 0;
    for (running& one : all_) {
        one.rate = weight_of(one);
        sum += one.rate;
        movers += one.rate > 0 ? 1 : 0;
    }
    for (running& one : all_) {
        one.moved_beside = one.moved_beside || (movers > 1 && one.rate > 0);
        one.rate = movers == 0 ? 0 : one.rate / sum / (1 + on_.loss * (movers - 1));
    }
}

double simulated_workload::next_event_s() const {
    double next_s = wake_at_s_ > now_s_ ? wake_at_s_ : never_s;
    for (const running& one : all_) {
        if (!one.in_phase)
            next_s = std::min(next_s, one.computes_until_s);
        else if (one.rate > 0)
            next_s = std::min({next_s, now_s_ + one.left_s / one.rate, one.told_s + report_s});
        else if (one.may_move)
            next_s = std::min(next_s, one.moves_from_s);
    }
    return std::max(next_s, now_s_);
}

void simulated_workload::go_to(double at_s) {
    const double passed_s = at_s - now_s_;
    now_s_ = at_s;
    for (running& one : all_) {
        if (!one.in_phase) {
            one.worked_s += passed_s;
            continue;
        }
        const double moved_s = std::min(one.left_s, passed_s * one.rate);
        one.left_s -= moved_s;
        one.moved_s += moved_s;
        one.worked_s += moved_s;
        one.io_alone_s += moved_s;
        one.io_s += passed_s;
    }
}

void simulated_workload::happen() {
    for (running& one : all_) {
        if (!one.in_phase && one.computes_until_s <= now_s_)
            begin(one);
        else if (one.in_phase && one.left_s <= nothing_s)
            end(one);
        else if (one.rate > 0 && now_s_ >= one.told_s + report_s)
            tell_progress(one);
    }
}

void simulated_workload::begin(running& one) {
    one.in_phase = true;
    one.may_move = false;
    one.arrived_s = now_s_;
    one.left_s = one.of->iterations[one.iteration].io_s;
    one.moved_s = one.told_moved_s = 0;
    one.told_s = now_s_;
    one.history.began(now_s_);
    ++one.phase;
    if (!told_) return;
    inform what;
    what.phase = one.phase;
    what.bytes_left = one.history.bytes();
    const double alone = one.history.bytes_per_s_alone();
    what.alone_s = what.left_s = alone > 0 ? static_cast<double>(what.bytes_left) / alone : 0;
    what.between_starts_s = one.history.between_starts_s();
    told_->received(one.connection, what, now_s_);
}

void simulated_workload::tell_progress(running& one) {
    const int64_t moved = bytes(one.moved_s - one.told_moved_s);
    const double took_s = now_s_ - one.told_s;
    const double alone = one.history.bytes_per_s_alone();
    one.history.moved(moved, took_s, !one.moved_beside);
    one.moved_beside = false;
    one.told_s = now_s_;
    one.told_moved_s = one.moved_s;
    if (!told_) return;
    progress what{.phase = one.phase, .lease = one.lease, .bytes_moved = moved};
    what.bytes_left = std::max<int64_t>(one.history.bytes() - bytes(one.moved_s), 0);
    if (alone > 0) what.left_s = static_cast<double>(what.bytes_left) / alone;
    if (took_s > 0 && moved > 0 && alone > 0) what.speed = static_cast<double>(moved) / took_s / alone;
    told_->received(one.connection, what, now_s_);
}

void simulated_workload::end(running& one) {
    tell_progress(one);
    one.history.ended(bytes(one.moved_s));
    ++phases_;
    factors_ += (now_s_ - one.arrived_s) / one.moved_s;
    one.in_phase = one.may_move = false;
    one.lease = 0;
    ++one.iteration;
    // The last one ends at the horizon at the earliest.
    one.computes_until_s =
        one.iteration < one.of->iterations.size() ? now_s_ + one.of->iterations[one.iteration].computes_s : never_s;
    if (!told_) return;
    told_->received(one.connection, release{one.phase}, now_s_);
    tell_expected(one);
}

/// By the mean time between the phases before.
void simulated_workload::tell_expected(running& one) {
    const double between_s = one.history.between_starts_s();
    const double alone = one.history.bytes_per_s_alone();
    if (!(between_s > 0) || !(alone > 0)) return;
    expect what;
    what.in_s = std::max(0.0, between_s - (now_s_ - one.arrived_s));
    what.bytes = one.history.bytes();
    what.alone_s = static_cast<double>(what.bytes) / alone;
    told_->received(one.connection, what, now_s_);
}

void simulated_workload::hear(running& one, const from_coordinator& message) {
    if (const auto* const given = std::get_if<grant>(&message)) {
        if (given->phase != one.phase || !one.in_phase || one.may_move) return;
        one.may_move = true;
        one.lease = given->lease;
        one.moves_from_s = one.told_s = now_s_ + on_.turn_begins_s;
        one.moved_beside = false;
        ++turns_;
    } else if (const auto* const back = std::get_if<recall>(&message)) {
        if (one.may_move && now_s_ > one.told_s) tell_progress(one);
        one.may_move = false;
        told_->received(one.connection, stopped{back->lease}, now_s_);
    } else if (std::holds_alternative<voided>(message) || std::holds_alternative<refused>(message) ||
               std::holds_alternative<error_report>(message)) {
        ++faults_;
    }
}

void simulated_workload::settle() {
    for (bool more = true; more;) {
        const effects& done = told_->advance(now_s_);
        wake_at_s_ = done.wake_at_s;
        const std::vector<effects::outgoing> messages = done.messages;
        more = !messages.empty();
        for (const effects::outgoing& one : messages) hear(all_[one.to - 1], one.message);
    }
}

double simulated_workload::slow_down(size_t application) const {
    return now_s_ / all_[application].worked_s;
}

double simulated_workload::io_slow_down(size_t application) const {
    const running& one = all_[application];
    return one.io_alone_s > 0 ? one.io_s / one.io_alone_s : 1;
}

size_t simulated_workload::least_iterations() const {
    return std::ranges::min_element(all_, {}, &running::iteration)->iteration;
}

}  // namespace halcyon::coordinate
