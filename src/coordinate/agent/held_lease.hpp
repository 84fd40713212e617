#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace halcyon::coordinate {

/// The lease that an agent has from its coordinator.
class held_lease {
  public:
    /// New, or renewed.
    void begin(uint64_t id, int64_t bytes, bool is_standing) {
        if (id_ != id) others_ = 0;
        // That a phase had to ask for its turn is a sign of others.
        only_ = is_standing || (only_ && id_ == id);
        id_ = id;
        stale_ = false;
        standing_ = is_standing;
        granted_ = bytes;
        renewed_ = bytes;
        half_told_ = false;
    }
    void end() {
        id_ = 0;
        stale_ = false;
        standing_ = only_ = false;
        granted_ = 0;
        renewed_.reset();
    }
    /// Its coordinator was silent for too long: of no use until it is renewed.
    void make_stale() { stale_ = true; }
    /// A phase has begun under it.
    void hold() { standing_ = false; }
    void note_others(int64_t move) { others_ = move; }
    /// Another application is registered, or may be.
    void note_registered() { only_ = false; }

    /// 0: there is none.
    [[nodiscard]] uint64_t id() const { return id_; }
    [[nodiscard]] bool any() const { return id_ != 0; }
    [[nodiscard]] bool is_stale() const { return stale_; }
    [[nodiscard]] bool is_standing() const { return standing_; }
    /// No other application moves.
    [[nodiscard]] bool is_alone() const { return any() && others_ == 0; }
    /// No other application is registered: it came as a standing one. Others get no turn before that is called back.
    [[nodiscard]] bool is_of_only_one() const { return only_; }
    /// At its latest renewal: what the storage moves in a moment.
    [[nodiscard]] int64_t bytes() const { return granted_; }
    /// `pool`: bytes of it that no process has drawn.
    [[nodiscard]] bool is_half_used(int64_t pool) const { return any() && !renewed_ && pool <= granted_ / 2; }
    /// Whether it has come to that since this was asked last.
    bool becomes_half_used(int64_t pool) {
        const bool now = is_half_used(pool);
        return !std::exchange(half_told_, now) && now;
    }
    /// Bytes that are not in the page yet.
    [[nodiscard]] const std::optional<int64_t>& renewed() const { return renewed_; }
    void renewal_shown() { renewed_.reset(); }

  private:
    uint64_t id_ = 0;
    bool stale_ = false;
    bool standing_ = false;
    bool only_ = false;
    int64_t others_ = 0;
    int64_t granted_ = 0;
    std::optional<int64_t> renewed_;
    bool half_told_ = false;
};

}  // namespace halcyon::coordinate
