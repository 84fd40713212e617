#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinate/coordinator/arbiter.hpp"
#include "coordinate/coordinator/coordinator.hpp"
#include "coordinate/coordinator/hearing_clock.hpp"
#include "coordinate/coordinator/reservations.hpp"

namespace halcyon::coordinate {

/// Who may say what, and to whom it goes.
struct coordinator::parts {
    parts(const settings& s, uint64_t epoch, double now_s)
        : how(s),
          clock(now_s, 2 * s.heartbeat_s),
          all(s),
          by_user(s.per_user),
          phase(s, epoch, {now_s, 0}),
          watch(s),
          judge(s) {}

    moment look(double now_s);
    void close(connection_id id, bool at_once);
    void refuse(const peer& from, uint64_t& count, std::string reason);
    void understand(peer& from, const to_coordinator& message, moment at);
    [[nodiscard]] bool may_list(const job& of, std::vector<uint32_t> targets) const;
    void admit(peer& from, const registration& what);
    void answer_top(const peer& to);
    void reserve_job(const peer& from, const reserve& what, moment at);
    void end_job(const peer& from, const ended& what, moment at);
    void turn_out(job& of, const std::string& reason, moment at);
    void care(moment at);
    void beat(moment at);
    const effects& give(moment at);
    [[nodiscard]] snapshot state() const;

    settings how;
    hearing_clock clock;
    registry all;
    reservations reserved;
    users by_user;
    phases phase;
    turn_watch watch;
    arbiter judge;
    outbox out;
    effects given;
    double told_until_heard_s = 0;  ///< up to then, all that came was told
    double care_at_s = 0;
    double beat_at_s = 0;
};

}  // namespace halcyon::coordinate
