#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "coordinate/coordinator/coordinator_parts.hpp"

namespace halcyon::coordinate {

/// 128 bits of everything that was put in. Numbers that are only compared (leases, fencing numbers, connections) are
/// put in as their rank among those of the state, so that two states that go on alike are the same one.
class digest {
  public:
    using value = std::pair<uint64_t, uint64_t>;

    void put(uint64_t number) {
        a_ = mix(a_ ^ number) + 0x9e3779b97f4a7c15U;
        b_ = mix(b_ + number * 0xff51afd7ed558ccdU) ^ 0xc2b2ae3d27d4eb4fU;
    }
    /// A duration; what is longer than any bound is all the same.
    void put_time(double seconds) {
        put(static_cast<uint64_t>(std::llround(std::clamp(seconds, -64.0, 64.0) * 1024) + 65536));
    }
    void collect(uint64_t number) { numbers_.push_back(number); }
    void rank() {
        std::ranges::sort(numbers_);
        numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    }
    void put_ranked(uint64_t number) {
        put(number == 0 ? 0 : 1 + static_cast<uint64_t>(std::ranges::lower_bound(numbers_, number) - numbers_.begin()));
    }
    [[nodiscard]] value get() const { return {a_, b_}; }

  private:
    static uint64_t mix(uint64_t x) {
        x ^= x >> 33U;
        x *= 0xff51afd7ed558ccdU;
        x ^= x >> 33U;
        x *= 0xc4ceb9fe1a85ec53U;
        return x ^ x >> 33U;
    }
    uint64_t a_ = 1;
    uint64_t b_ = 2;
    std::vector<uint64_t> numbers_;
};

/// What a coordinator under fcfs or interrupt does next depends on this, apart from sizes of leases and expected waits.
struct coordinator_digest {
    static void collect(const coordinator& c, digest& into) {
        for (const auto& [id, one] : c.parts_->all.jobs()) {
            into.collect(one.has.lease());
            for (const agent& each : one.agents) into.collect(each.connection);
        }
    }
    static void put(const coordinator& c, digest& into) {
        const coordinator::parts& p = *c.parts_;
        const double now_s = p.clock.clock_s();
        const double heard_s = p.clock.heard_s();
        std::vector<double> arrivals;
        for (const auto& [id, one] : p.all.jobs()) arrivals.push_back(one.arrived_s);
        std::ranges::sort(arrivals);
        arrivals.erase(std::unique(arrivals.begin(), arrivals.end()), arrivals.end());
        into.put(p.phase.numbers().epoch());
        into.put_time(std::max(0.0, p.phase.relearn_until_heard_s_ - heard_s));
        into.put_time(p.care_at_s - now_s);
        for (const auto& [id, one] : p.all.jobs()) {
            into.put(std::hash<std::string>()(one.name));
            into.put(static_cast<uint64_t>(one.has.stage()));
            into.put_ranked(one.has.lease());
            into.put(one.in_phase() ? 1 + static_cast<uint64_t>(std::ranges::lower_bound(arrivals, one.arrived_s) -
                                                                arrivals.begin())
                                    : 0);
            into.put(one.moved_bytes > 0 ? 1 : 0);
            if (one.has.any()) into.put_time(std::min(p.how.stalled_s + 1, heard_s - one.moved_heard_s));
            if (one.has.any()) into.put_time(std::min(p.how.stalled_s + 1, heard_s - one.turn_heard_s));
            into.put(p.by_user.is_on_probation(one, now_s) ? 1 : 0);
            into.put_time(std::max(0.0, one.barred_until_s - now_s));
            into.put_time(one.has.ending() ? one.has.overdue_at_s() - heard_s : 0);
            into.put_time(one.has.ending() ? one.has.excused_until_s() - heard_s : 0);
            into.put(one.has.ending() ? one.has.round() : 0);
            into.put(one.proven ? 1 : 0);
            into.put(one.penalties);
            for (const agent& each : one.agents) {
                into.put(std::hash<std::string>()(each.node));
                into.put_ranked(each.connection);
                into.put_time(each.stale_by_heard_s - heard_s);
                into.put(each.phase ? each.phase->phase : 0);
                into.put(each.lease == 0 ? 0 : each.unheard_fence != 0 ? 2 : 1);
                into.put(each.under_way > 0 ? 1 : 0);
            }
            for (const auto& answer : one.has.answers_) {
                const auto at = std::ranges::find(one.agents, answer.agent, &agent::id);
                into.put(static_cast<uint64_t>(at - one.agents.begin()) * 4 + (answer.told ? 2 : 0) +
                         (answer.stopped ? 1 : 0));
            }
        }
        for (const uint32_t user : {1000U, 1001U, 1002U})
            into.put_time(std::max(0.0, p.by_user.barred_until_s(user) - now_s));
    }
};

}  // namespace halcyon::coordinate
