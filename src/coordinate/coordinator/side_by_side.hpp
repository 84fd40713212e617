#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "policy/interference.hpp"
#include "policy/unseen_writer.hpp"

namespace halcyon::coordinate {

/// Learns from reported speeds how applications slow each other down, and what writers without Halcyon take.
///
/// A speed counts only where, in the whole interval that it is about, exactly the known ones moved: the set of movers
/// has not changed, and nobody has said to move unasked. A slow-down of an application that moves alone is the work of
/// an unseen writer. One beside others teaches their interference. Where that is known, and nobody has moved alone
/// lately, speeds much below it show an unseen writer, and teach nothing else.
///
/// A report is no more work than a look at each mover: the speeds of more than 32 movers are not compared, and nothing
/// is learnt of one beside more than 32 that share its storage.
class side_by_side {
  public:
    explicit side_by_side(const policy::interference::settings& how) : learned_(how) {}

    /// Or what they do has changed: targets, demand.
    void movers_changed(double now_s);
    /// Somebody moved without having the turn.
    void disturbed(double until_s);
    /// What began before that was not only by those that have the turn.
    [[nodiscard]] double disturbed_until_s() const { return disturbed_until_s_; }
    /// `one` of `movers` moved at `speed`, relative to alone, from `begin_s` until `now_s`.
    void report(uint64_t one, std::span<const policy::application> movers, double speed, double begin_s, double now_s);
    void forget(uint64_t id) { learned_.forget(id); }

    [[nodiscard]] const policy::interference& learned() const { return learned_; }
    [[nodiscard]] double unseen_share() const { return alone_lately() ? alone_.share() : together_.share(); }

  private:
    void compare_all(uint64_t one, std::span<const policy::application> movers, double speed);
    [[nodiscard]] bool all_known(std::span<const policy::application> movers) const;
    [[nodiscard]] double expected_speed(const policy::application& one,
                                        std::span<const policy::application> movers) const;

    policy::interference learned_;
    [[nodiscard]] bool alone_lately() const { return told_s_ - alone_s_ < alone_counts_s; }

    static constexpr double alone_counts_s = 60;
    policy::unseen_writer alone_;     ///< by applications that moved alone
    policy::unseen_writer together_;  ///< by those whose interference is known
    double told_s_ = 0;               ///< when a speed was told last
    double alone_s_ = -1e9;           ///< of an application that moved alone
    uint32_t surprises_ = 0;          ///< in a row
    double changed_s_ = 0;
    double disturbed_until_s_ = 0;
    std::map<uint64_t, double> speeds_;  ///< of movers since together_ was told of all of them
};

}  // namespace halcyon::coordinate
