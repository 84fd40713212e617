#include "coordinate/simulated_storage.hpp"

#include <algorithm>

namespace halcyon::coordinate {

namespace {

constexpr double step_s = 0.025;
constexpr int steps_of_report = 10;
constexpr double bytes_per_s = 1e9;

}  // namespace

simulated_storage::simulated_storage(const settings& how, const std::vector<simulated>& all, uint64_t seed)
    : told_(how, 1, 0) {
    for (const simulated& what : all) {
        running one;
        one.what = what;
        one.connection = all_.size() + 1;
        one.random.seed(seed + std::hash<std::string>()(what.name));
        one.next_s = 1 + std::uniform_real_distribution<double>(0, what.computes_s)(one.random);
        all_.push_back(std::move(one));
    }
    for (const running& one : all_) {
        told_.connected(one.connection, one.what.user, false, 0);
        registration what;
        what.job = one.what.name;
        what.node = "n";
        what.secret = "a secret that is long enough";
        told_.received(one.connection, what, 0);
    }
    settle();
}

double simulated_storage::said_left_s(const running& one) const {
    return one.what.never_ends ? 0.1 : std::max(1e-3, one.left_s * one.what.said);
}

void simulated_storage::begin(running& one) {
    one.in_phase = true;
    one.may_move = false;
    if (one.begun_s >= 0) one.between.add(now_s_ - one.begun_s);
    one.begun_s = now_s_;
    one.left_s = one.what.alone_s;
    one.moved_s = 0;
    ask(one);
}

void simulated_storage::ask(running& one) {
    inform what;
    what.phase = ++one.phase;
    what.alone_s = what.left_s = said_left_s(one);
    what.bytes_left = static_cast<int64_t>(said_left_s(one) * bytes_per_s);
    what.between_starts_s = one.what.between_s > 0 ? one.what.between_s : one.between.mean();
    what.lease = one.what.invents_leases ? one.phase : 0;
    told_.received(one.connection, what, now_s_);
}

void simulated_storage::end(running& one) {
    one.in_phase = one.may_move = false;
    one.slow_downs += (now_s_ - one.begun_s) / one.what.alone_s;
    ++one.phases;
    one.next_s = now_s_ + std::uniform_real_distribution<double>(0.5, 1.5)(one.random) * one.what.computes_s;
    told_.received(one.connection, release{one.phase}, now_s_);
}

void simulated_storage::hear(running& one, const from_coordinator& message) {
    if (const auto* const given = std::get_if<grant>(&message)) {
        if (given->phase != one.phase || !one.in_phase) return;
        one.may_move = true;
        one.lease = given->lease;
    } else if (const auto* const back = std::get_if<recall>(&message)) {
        if (one.what.stalls) return;
        one.may_move = false;
        told_.received(one.connection, stopped{back->lease}, now_s_);
    } else if (const auto* const lost = std::get_if<voided>(&message)) {
        // What it has invented is void while its phase waits as it would have without.
        if (!one.in_phase || lost->lease != one.lease) return;
        one.may_move = false;
        ask(one);
    }
}

void simulated_storage::settle() {
    for (bool more = true; more;) {
        const std::vector<effects::outgoing> messages = told_.advance(now_s_).messages;
        more = !messages.empty();
        for (const effects::outgoing& one : messages) hear(all_[one.to - 1], one.message);
    }
}

void simulated_storage::run(double seconds) {
    const auto steps = static_cast<int64_t>(seconds / step_s);
    for (int64_t step = 0; step < steps; ++step) {
        const double from_s = now_s_;
        now_s_ = static_cast<double>(step + 1) * step_s;
        std::vector<running*> movers;
        for (running& one : all_)
            if (one.in_phase && one.may_move && !one.what.stalls) movers.push_back(&one);
        for (running* const one : movers) {
            const double moved_s = std::min(one->left_s, (now_s_ - from_s) / static_cast<double>(movers.size()));
            one->left_s -= moved_s;
            one->moved_s += moved_s;
        }
        for (running& one : all_) {
            if (!one.in_phase && now_s_ >= one.next_s) begin(one);
            if (one.in_phase && one.left_s <= 1e-9) end(one);
            if (step % steps_of_report != 0) continue;
            told_.received(one.connection, heartbeat{}, now_s_);
            if (one.in_phase && one.what.moves_unasked)
                told_.received(one.connection, progress{.phase = one.phase, .lease = 0, .bytes_moved = 1}, now_s_);
            if (!one.in_phase || !one.may_move || !(one.moved_s > 0 || one.what.says_calls)) continue;
            progress report;
            report.phase = one.phase;
            report.lease = one.lease;
            report.bytes_moved = static_cast<int64_t>(one.moved_s * bytes_per_s);
            report.left_s = said_left_s(one);
            report.bytes_left = static_cast<int64_t>(said_left_s(one) * bytes_per_s);
            report.speed = 1 / static_cast<double>(std::max<size_t>(1, movers.size()));
            if (one.what.told_speed > 0) report.speed = one.what.told_speed;
            report.under_way = one.what.says_calls ? 1 : 0;
            one.moved_s = 0;
            told_.received(one.connection, report, now_s_);
        }
        settle();
    }
}

double simulated_storage::slow_down(const std::string& name) const {
    for (const running& one : all_)
        if (one.what.name == name) return one.slow_downs / std::max(1, one.phases);
    return 0;
}

double simulated_storage::honest_slow_down() const {
    double sum = 0;
    int count = 0;
    for (const running& one : all_) {
        if (one.what.said != 1 || one.what.never_ends || one.what.stalls || one.what.name.starts_with("liar")) continue;
        sum += one.slow_downs;
        count += one.phases;
    }
    return sum / std::max(1, count);
}

}  // namespace halcyon::coordinate
