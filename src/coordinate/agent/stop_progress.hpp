#pragma once

#include <cstdint>

#include "coordinate/page/permission.hpp"

namespace halcyon::coordinate {

/// How far a node has come with a stop.
class stop_progress {
  public:
    [[nodiscard]] bool any() const { return stage_ != stage::none; }
    [[nodiscard]] uint64_t lease() const { return lease_; }
    [[nodiscard]] uint64_t round() const { return round_; }
    [[nodiscard]] permission wanted() const {
        return stage_ == stage::recalled || stage_ == stage::held ? permission::hold : permission::stop;
    }

    /// `recall` came. False: this one is known.
    bool recall(uint64_t lease) {
        if (any() && lease_ == lease) return false;
        *this = {};
        stage_ = stage::recalled;
        lease_ = lease;
        return true;
    }
    /// No call begins any more: the rounds can be read.
    [[nodiscard]] bool must_look() const { return stage_ == stage::recalled; }
    void hold() { stage_ = stage::held; }
    [[nodiscard]] bool may_read() const { return stage_ == stage::held; }
    void tell(uint64_t highest) {
        stage_ = stage::told;
        told_ = highest;
        round_ = highest + 1;
    }
    [[nodiscard]] uint64_t told() const { return told_; }
    [[nodiscard]] bool has_told() const { return stage_ >= stage::told; }

    /// `stop` came.
    void stop(uint64_t lease, uint64_t round) {
        if (lease_ != lease) *this = {};
        stage_ = stage::stopping;
        lease_ = lease;
        round_ = round;
    }
    /// Calls went on unasked meanwhile, so they have to come to their end once more.
    void start_over() {
        if (is_stopping()) stage_ = stage::stopping;
    }
    [[nodiscard]] bool is_stopping() const { return stage_ >= stage::stopping; }
    void clean() { stage_ = stage::cleaning; }
    [[nodiscard]] bool is_cleaning() const { return stage_ == stage::cleaning; }
    void cleaned() {
        if (stage_ == stage::cleaning) stage_ = stage::clean;
    }
    [[nodiscard]] bool is_clean() const { return stage_ == stage::clean; }

  private:
    enum class stage : uint8_t { none, recalled, held, told, stopping, cleaning, clean };
    stage stage_ = stage::none;
    uint64_t lease_ = 0;
    uint64_t told_ = 0;
    uint64_t round_ = 0;
};

}  // namespace halcyon::coordinate
