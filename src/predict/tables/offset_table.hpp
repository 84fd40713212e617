#pragma once

#include <cstdint>
#include <span>

#include "predict/tables/limits.hpp"
#include "predict/tables/local_sequence.hpp"

namespace halcyon::predict {

/// From what the offset of an access may be counted.
enum class offset_base : uint8_t {
    end,        ///< of the last access to the file
    start,      ///< of the last access to the file
    highest,    ///< end of all accesses to the file so far
    own_start,  ///< of the last access of the same context
    own_end,    ///< of the last access of the same context
    hole,       ///< the first byte behind the last access that was not accessed since the file was opened
    zero,
};
inline constexpr uint32_t offset_bases = 7;

/// Where the bases are before an access. -1: there is none, no access came before.
struct offset_places {
    int64_t at[offset_bases] = {-1, -1, -1, -1, -1, -1, 0};
    [[nodiscard]] int64_t of(offset_base base) const { return at[static_cast<uint32_t>(base)]; }
};

/// Where the second call of a transition between contexts accesses its file (Dorier 2014, section 7.2.2, 'Tracking
/// Offsets'). The thesis knows three transformations: consecutive, absolute, relative to the end of the access before.
/// Here an offset may be counted from any offset_base, since formats write relative to the end of the file, to the same
/// field of the block before, or over what they have just written. Which base explains a transition is learnt: a
/// transformation (base, distance) that explains what came before is taken again before a new one is made. Their
/// sequence is a local grammar; with too many of them the base whose distance stays the same most often says where.
///
/// A plain value, which its owner releases.
class offset_table {
  public:
    void learn(const offset_places& places, int64_t offset, const limits& cut_off, memory_bound& memory);
    /// policy::not_known before the first one.
    [[nodiscard]] int64_t next(const offset_places& places, uint64_t walk) const;
    void release(memory_bound& memory);

    /// For archives; read into a new one.
    template <class Self, class Archive>
    static void each_field(Self& self, Archive& archive) {
        for (auto& habit : self.habits_) {
            archive.number(habit.distance);
            archive.number(habit.luck);
            archive.number(habit.known);
        }
        archive.number(self.consecutive_luck_);
        archive.number(self.learnt_);
        archive.number(self.too_many_);
        transformation::each_field(self.first_, archive);
        uint32_t count = self.transformation_count_;
        archive.number(count);
        if constexpr (Archive::reads) {
            if (count > limits::most_values) archive.fail("too many transformations of offsets");
            if (!archive.good()) return;
            if (count > 0 && !self.take_transformations(archive.memory())) return archive.fail(Archive::too_large);
            self.transformation_count_ = count;
        }
        for (uint32_t i = 0; i < count; ++i) transformation::each_field(self.transformations_[i], archive);
        local_sequence::each_field(self.sequence_, archive, count == 0 ? 1 : count);
    }

    struct transformation {
        int64_t distance;
        offset_base base;

        [[nodiscard]] int64_t applied_to(const offset_places& places) const {
            return places.of(base) < 0 ? -1 : places.of(base) + distance;
        }
        template <class Self, class Archive>
        static void each_field(Self& self, Archive& archive) {
            archive.number(self.distance);
            archive.number(self.base);
            if constexpr (Archive::reads) {
                if (static_cast<uint32_t>(self.base) >= offset_bases) {
                    self.base = offset_base::zero;
                    archive.fail("an offset from an unknown place");
                }
            }
        }
    };

    /// Transformations told apart; 0: there are too many, or there is one only.
    [[nodiscard]] uint32_t distinct() const { return transformation_count_; }
    /// They explain all offsets that were learnt. Empty: there are too many of them, or nothing was learnt.
    [[nodiscard]] std::span<const transformation> transformations() const {
        if (transformations_ != nullptr) return {transformations_, transformation_count_};
        return {&first_, learnt_ && !too_many_ ? 1u : 0u};
    }
    /// Share of the last predictions that were right, 0 to 1.
    [[nodiscard]] float luck() const;

  private:
    /// That the distance to this base stays what it was.
    struct habit {
        int64_t distance = 0;
        float luck = 0;
        bool known = false;
    };

    [[nodiscard]] int best_habit(const offset_places& places) const;
    [[nodiscard]] int explained_by(const offset_places& places, int64_t offset, int predicted) const;
    void learn_transformation(const offset_places& places, int64_t offset, const limits& cut_off, memory_bound& memory);
    [[nodiscard]] bool take_transformations(memory_bound& memory);
    void give_up_transformations(memory_bound& memory);

    habit habits_[offset_bases];
    float consecutive_luck_ = 0;  // of the distance 0 from the end
    bool learnt_ = false;
    bool too_many_ = false;
    uint32_t transformation_count_ = 0;
    transformation first_ = {};
    transformation* transformations_ = nullptr;  // limits::most_values, from the second one on
    local_sequence sequence_;
};

}  // namespace halcyon::predict
