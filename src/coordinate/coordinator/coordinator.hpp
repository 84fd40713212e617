#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "coordinate/coordinator/counts.hpp"
#include "coordinate/coordinator/effects.hpp"
#include "coordinate/coordinator/settings.hpp"
#include "coordinate/coordinator/snapshot.hpp"

namespace halcyon::coordinate {

/// Gives applications their turns at one file system: a state machine without sockets, threads and clocks. Whoever runs
/// it tells it what came, and then lets it advance() and does what that returns:
///
///     coordinator.connected(7, user, false, now);      whatever came, in the order in which it came
///     coordinator.received(7, line, now);
///     carry_out(coordinator.advance(now));              once behind a batch, and when it wants to be woken
///
/// `now_s` is of a clock that does not step (CLOCK_MONOTONIC); only differences count; an earlier time than before
/// counts as the one before. What came must be told before advance() is called with a later time, or advance() be told
/// that it was not, so that nobody is taken for silent whose messages lie unread. Where nobody called for longer than
/// it asked for, it was not run itself: it heard nothing in that time, and nobody is punished for it.
///
/// Throws std::bad_alloc only. Can be copied: a copy goes its own way. Not for several threads at once.
class coordinator {
  public:
    /// `epoch`, below 2^32, must be above that of every coordinator of this file system before.
    coordinator(const settings& how, uint64_t epoch, double now_s);
    ~coordinator();
    coordinator(const coordinator& other);
    coordinator& operator=(const coordinator& other);
    coordinator(coordinator&&) noexcept;
    coordinator& operator=(coordinator&&) noexcept;

    void connected(connection_id connection, uint32_t user, bool administrator, double now_s);
    /// `line` may hold anything. Connections that are not known (any more) are ignored.
    void received(connection_id connection, std::string_view line, double now_s);
    void received(connection_id connection, const to_coordinator& message, double now_s);
    /// The line socket had to give up on this connection before it made a message: counted as `refused_not_json`.
    void refused_line(connection_id connection, double now_s);
    void disconnected(connection_id connection, double now_s);
    /// Something of it has come, and is told later: it is not silent.
    void speaks(connection_id connection, double now_s);

    /// Decides. `all_told`: whether everything was told that came before now. As long as it was not, nobody is taken
    /// for silent. Valid until the next call of anything.
    const effects& advance(double now_s, bool all_told = true);
    /// What is due already, heartbeats included, and need not wait for a decision: those may take long. Valid as above.
    const effects& speak(double now_s);

    /// Another coordinator takes over: every lease is void, and no message that was due before goes out. It must not be
    /// asked for anything any more. Valid until it is destroyed.
    const effects& resign(const char* reason);

    /// Jobs that a batch system has announced, with `since_s` as how long ago.
    [[nodiscard]] std::vector<reservation> announced() const;
    /// Likewise to the coordinator before this one.
    void take_over(std::vector<reservation> announced);

    [[nodiscard]] snapshot state() const;
    [[nodiscard]] const counts& counted() const;

  private:
    friend struct coordinator_digest;  ///< of the test that explores all states
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace halcyon::coordinate
