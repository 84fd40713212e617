#pragma once

#include <cstdint>
#include <span>

#include "predict/tables/limits.hpp"
#include "predict/tables/local_sequence.hpp"

namespace halcyon::predict {

/// From what the offset of an access may be counted.
enum class offset_base : uint8_t {
    end,         ///< of the last access to the file
    start,       ///< of the last access to the file
    highest,     ///< end of all accesses to the file so far
    own_start,   ///< of the last access of the same context
    own_end,     ///< of the last access of the same context
    hole,        ///< the first byte behind the last access that was not accessed since the file was opened
    end_before,  ///< of the last access but one to the file
    zero,
};
inline constexpr uint32_t offset_bases = 8;

/// Where the bases are before an access. -1: there is none, no access came before.
struct offset_places {
    int64_t at[offset_bases] = {-1, -1, -1, -1, -1, -1, -1, 0};
    [[nodiscard]] int64_t of(offset_base base) const { return at[static_cast<uint32_t>(base)]; }
};

/// Where the second call of a transition between contexts accesses its file (Dorier 2014, section 7.2.2, 'Tracking
/// Offsets'). The thesis knows three transformations: consecutive, absolute, relative to the end of the access before.
/// Here an offset may be counted from any offset_base, since formats write relative to the end of the file, to the same
/// field of the block before, or over what they have just written. Which base explains a transition is learnt: a
/// transformation that explains what came before is taken again before a new one is made, and loses the bases that do
/// not explain it, until the one remains that the program counts from. Their sequence is a local grammar. Beyond the
/// cut-off those that came once give way; of what finds no room the base whose distance stays the same most often says
/// where, and of everything when the sequence has no pattern.
///
/// A plain value, which its owner releases.
class offset_table {
  public:
    void learn(const offset_places& places, int64_t offset, const limits& cut_off, calls::memory_bound& memory);
    /// policy::not_known before the first one.
    [[nodiscard]] int64_t next(const offset_places& places, uint64_t walk) const;
    void release(calls::memory_bound& memory);

    /// For archives; read into a new one, which forgets the transformations for which there is no memory.
    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive) {
        for (auto& habit : self.habits_) {
            archive.number(habit.distance);
            archive.number(habit.last);
            archive.number(habit.luck);
            archive.number(habit.known);
        }
        archive.number(self.consecutive_luck_);
        archive.number(self.learnt_);
        archive.number(self.too_many_);
        archive.number(self.observed_);
        archive.number(self.told_);
        transformation::each_field(self.first_, archive);
        uint32_t count = self.transformation_count_;
        archive.number(count);
        if constexpr (Archive::reads) {
            if (count > limits::most_values) archive.fail("too many transformations of offsets");
            if (!archive.good()) return;
            if (count > 0 && !self.take_transformations(archive.memory())) {
                self.too_many_ = true;
                transformation unread;
                for (uint32_t i = 0; i < count; ++i) transformation::each_field(unread, archive);
                return local_sequence::skip(archive);
            }
            self.transformation_count_ = count;
        }
        for (uint32_t i = 0; i < count; ++i) transformation::each_field(self.transformations_[i], archive);
        local_sequence::each_field(self.sequence_, archive, other + 1);
    }

    /// The distance of an offset from every base, and from which of them all accesses that it explained had it: as long
    /// as they are several, nobody knows yet what the program counts from.
    struct transformation {
        int64_t distance[offset_bases] = {};
        uint32_t uses = 0;
        uint32_t bases = 0;  ///< a bit for each

        transformation() = default;
        transformation(const offset_places& places, int64_t offset);
        /// The bases that explain this access, too.
        [[nodiscard]] uint32_t explains(const offset_places& places, int64_t offset) const;
        template <class Self, class Archive>
        static void each_field(Self& self, Archive& archive) {
            for (auto& distance : self.distance) archive.number(distance);
            archive.number(self.uses);
            archive.number(self.bases);
        }
    };

    /// Transformations told apart; 0: there are too many, or there is one only.
    [[nodiscard]] uint32_t distinct() const { return transformation_count_; }
    /// They explain all offsets that were learnt. Empty: there are too many of them, or nothing was learnt.
    [[nodiscard]] std::span<const transformation> transformations() const {
        if (transformations_ != nullptr) return {transformations_, transformation_count_};
        return {&first_, learnt_ && !too_many_ ? 1u : 0u};
    }

  private:
    /// That the distance to this base stays what it was; another one takes its place when it comes twice in a row.
    struct habit {
        int64_t distance = 0;
        int64_t last = 0;
        float luck = 0;
        bool known = false;

        void learn(int64_t observed);
    };
    /// In the sequence: a transformation that found no room.
    static constexpr uint32_t other = limits::most_values;

    [[nodiscard]] int best_habit(const offset_places& places) const;
    [[nodiscard]] int explained_by(const offset_places& places, int64_t offset, int predicted) const;
    void learn_transformation(const offset_places& places, int64_t offset, const limits& cut_off,
                              calls::memory_bound& memory);
    [[nodiscard]] int64_t applied(const transformation& said, const offset_places& places) const;
    [[nodiscard]] uint32_t keep(const transformation& made, const limits& cut_off, calls::memory_bound& memory);
    [[nodiscard]] const transformation* numbered(int number) const;
    [[nodiscard]] bool take_transformations(calls::memory_bound& memory);
    void give_up_transformations(calls::memory_bound& memory);

    habit habits_[offset_bases];
    float consecutive_luck_ = 0;  // of the distance 0 from the end
    bool learnt_ = false;
    bool too_many_ = false;
    uint32_t transformation_count_ = 0;
    uint32_t observed_ = 0;
    uint32_t next_victim_ = 0;
    float told_ = 0;  // share of the last transformations that the sequence told
    transformation first_ = {};
    transformation* transformations_ = nullptr;  // limits::most_values, from the second one on
    local_sequence sequence_;
};

}  // namespace halcyon::predict
