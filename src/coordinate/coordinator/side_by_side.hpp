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
/// an unseen writer. One beside others teaches their interference, unless an unseen writer is about: then it would
/// learn that one. Where the interference of all movers is known, a speed below what it predicts shows an unseen one.
class side_by_side {
  public:
    explicit side_by_side(const policy::interference::settings& how) : learned_(how) {}

    /// Or what they do has changed: targets, demand.
    void movers_changed(double now_s);
    /// Somebody moved without having the turn.
    void disturbed(double until_s);
    /// `one` of `movers` moved at `speed`, relative to alone, from `begin_s` until `now_s`.
    void report(uint64_t one, std::span<const policy::application> movers, double speed, double begin_s, double now_s);
    void forget(uint64_t id) { learned_.forget(id); }

    [[nodiscard]] const policy::interference& learned() const { return learned_; }
    [[nodiscard]] double unseen_share() const { return unseen_.share(); }

  private:
    friend struct coordinator_digest;
    [[nodiscard]] bool all_known(std::span<const policy::application> movers) const;
    [[nodiscard]] double expected_speed(const policy::application& one,
                                        std::span<const policy::application> movers) const;

    policy::interference learned_;
    policy::unseen_writer unseen_;
    double changed_s_ = 0;
    double disturbed_until_s_ = 0;
    std::map<uint64_t, double> speeds_;  ///< of movers since unseen_ was told of all of them
};

}  // namespace halcyon::coordinate
