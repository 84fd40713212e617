#pragma once

#include <cmath>
#include <cstdint>

#include "predict/tables/limits.hpp"
#include "predict/tables/local_sequence.hpp"

namespace halcyon::predict {

/// How many bytes the calls of one context transfer (Dorier 2014, section 7.2.2, 'Tracking Access Sizes'): a constant;
/// or a local grammar of the sizes, in which beyond the cut-off those that came once give way; or, where that has no
/// pattern, or for a size that found no room, or where the grammar does worse, the best of the
/// last size, the mean, the weighted mean, and the size that came a fixed number of calls ago: a program that writes
/// the pieces of its ranks in turn writes those of one rank with nearly the same size each time.
///
/// A plain value, which its owner releases.
class size_table {
  public:
    /// Negative sizes are not learnt.
    void learn(int64_t bytes, const limits& cut_off, calls::memory_bound& memory);
    /// The expected size; policy::not_known before the first one.
    [[nodiscard]] int64_t next(uint64_t walk) const;
    void release(calls::memory_bound& memory);

    /// For archives; read into a new one, which forgets the values for which there is no memory. What came a number of
    /// calls ago is of the run that learnt it, and stays there.
    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive) {
        archive.number(self.count_);
        archive.number(self.least_);
        archive.number(self.most_);
        archive.number(self.last_);
        archive.number(self.mean_);
        archive.number(self.weighted_);
        for (auto& likeness : self.likeness_) archive.number(likeness);
        if constexpr (Archive::reads) {
            constexpr auto farthest = static_cast<double>(Archive::farthest);
            if (std::abs(self.mean_) > farthest || std::abs(self.weighted_) > farthest)
                archive.fail("a mean beyond all sizes");
            if (self.least_ < 0 || self.most_ < 0 || self.last_ < 0) archive.fail("a negative size");
            if (self.count_ > Archive::most_calls) archive.fail("more sizes than calls can be made");
        }
        archive.number(self.too_many_);
        archive.number(self.told_);
        uint32_t count = self.value_count_;
        archive.number(count);
        if constexpr (Archive::reads) {
            self.likeness_[by_lag] = 0;
            if (count > limits::most_values) archive.fail("too many sizes");
            if (count == 0 || !archive.good()) return;
            if (!self.take_values(archive.memory())) {
                self.too_many_ = true;
                value unread{};
                for (uint32_t i = 0; i < count; ++i) archive.number(unread.bytes), archive.number(unread.uses);
                return local_sequence::skip(archive);
            }
            self.value_count_ = count;
        }
        for (uint32_t i = 0; i < count; ++i) {
            archive.number(self.values_[i].bytes);
            archive.number(self.values_[i].uses);
            if constexpr (Archive::reads) {
                if (self.values_[i].bytes < 0) archive.fail("a negative size");
            }
        }
        if (count > 0) local_sequence::each_field(self.sequence_, archive, other + 1);
    }

    [[nodiscard]] uint64_t count() const { return count_; }
    [[nodiscard]] int64_t least() const { return least_; }
    [[nodiscard]] int64_t most() const { return most_; }
    [[nodiscard]] double mean() const { return mean_; }
    /// Distinct sizes that are told apart; 0: there are too many, or it is constant.
    [[nodiscard]] uint32_t distinct() const { return value_count_; }
    [[nodiscard]] bool constant() const { return count_ > 0 && least_ == most_; }

  private:
    enum method : uint8_t { by_sequence, by_last, by_mean, by_weighted, by_lag, methods };

    /// In the sequence: a size that found no room.
    static constexpr uint32_t other = limits::most_values;

    [[nodiscard]] int64_t said_by(method which, int number) const;
    [[nodiscard]] method best(bool sequence_knows) const;
    [[nodiscard]] bool tells(int number) const { return number >= 0 && static_cast<uint32_t>(number) < value_count_; }
    [[nodiscard]] uint32_t number_of(int64_t bytes, const limits& cut_off);
    void learn_value(int64_t bytes, const limits& cut_off, calls::memory_bound& memory);
    [[nodiscard]] bool take_values(calls::memory_bound& memory);
    void give_up_values(calls::memory_bound& memory);
    void learn_lags(int64_t bytes, calls::memory_bound& memory);

    uint64_t count_ = 0;
    int64_t least_ = 0;
    int64_t most_ = 0;
    int64_t last_ = 0;
    double mean_ = 0;
    double weighted_ = 0;  // as equation 7.1
    float likeness_[methods] = {};
    bool too_many_ = false;
    uint32_t value_count_ = 0;
    struct value {
        int64_t bytes;
        uint32_t uses;
    };
    uint32_t next_victim_ = 0;
    float told_ = 0;           // share of the last sizes that the sequence told
    value* values_ = nullptr;  // limits::most_values, from the second size on
    local_sequence sequence_;
    struct lags;
    lags* lags_ = nullptr;  // from the first size on that the values did not tell
};

}  // namespace halcyon::predict
