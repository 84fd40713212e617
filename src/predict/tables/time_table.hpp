#pragma once

#include <cstdint>

#include "predict/tables/local_sequence.hpp"
#include "predict/tables/time_estimate.hpp"

namespace halcyon::predict {

/// The time between the end of a call and the beginning of the next, for one transition between contexts. Beyond the
/// statistics of the thesis: when a transition has times of several orders (a loop of writes, with a step of the
/// simulation after each tenth), they are told apart into levels, and the sequence of levels is a local grammar.
///
/// A plain value, which its owner releases.
class time_table {
  public:
    void learn(int64_t gap_ns, calls::memory_bound& memory);
    struct expectation {
        int64_t ns = 0;
        int64_t deviation_ns = 0;
    };
    [[nodiscard]] expectation next(uint64_t walk) const;
    void release(calls::memory_bound& memory);

    /// For archives; read into a new one, which forgets the levels for which there is no memory.
    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive) {
        time_estimate::each_field(self.all_, archive);
        archive.number(self.no_levels_);
        archive.number(self.levels_error_);
        uint32_t count = self.level_count_;
        archive.number(count);
        if constexpr (Archive::reads) {
            if (count > most_levels) archive.fail("too many levels of time");
            if (count == 0 || !archive.good()) return;
            if (!self.take_levels(archive.memory())) {
                self.no_levels_ = true;
                time_estimate unread;
                for (uint32_t i = 0; i < count; ++i) time_estimate::each_field(unread, archive);
                return local_sequence::skip(archive);
            }
            self.level_count_ = count;
        }
        for (uint32_t i = 0; i < count; ++i) time_estimate::each_field(self.levels_[i], archive);
        if (count > 0) local_sequence::each_field(self.sequence_, archive, count);
    }

    /// Of all times.
    [[nodiscard]] const time_estimate& all() const { return all_; }

  private:
    static constexpr uint32_t most_levels = 6;

    [[nodiscard]] uint32_t level_of(int64_t gap_ns) const;
    [[nodiscard]] bool take_levels(calls::memory_bound& memory);
    [[nodiscard]] bool make_levels(calls::memory_bound& memory);
    void give_up_levels(calls::memory_bound& memory);

    time_estimate all_;
    time_estimate* levels_ = nullptr;  // most_levels
    uint32_t level_count_ = 0;
    bool no_levels_ = false;
    float levels_error_ = 0;  // mean absolute error, as that of all_
    local_sequence sequence_;
};

}  // namespace halcyon::predict
