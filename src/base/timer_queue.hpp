#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace halcyon {

/// Timers by their time, on whatever clock the caller uses. A timer is made once and set as often as one likes: setting
/// allocates nothing. Of timers for the same time, the one that was set first fires first.
class timer_queue {
  public:
    enum class timer : uint64_t { none = 0 };

    /// Made, but not set.
    timer add(std::function<void()> action);
    /// Fires once at `when_ns`, instead of when it was set for before. Nothing happens for a timer that was removed.
    void set(timer t, int64_t when_ns);
    void unset(timer t);
    /// Gone; its own action may do this.
    void remove(timer t);
    [[nodiscard]] bool is_set(timer t) const;

    /// When the next one fires.
    [[nodiscard]] std::optional<int64_t> next_ns() const;
    /// Runs the actions that are due. What an action sets for now or before fires in the next call.
    void run_due(int64_t now_ns);

  private:
    static constexpr size_t unset_place = SIZE_MAX;
    struct slot {
        std::function<void()> action;
        uint32_t generation = 1;
        bool is_used = false;
        size_t place = unset_place;  ///< in the heap
    };
    struct entry {
        int64_t when_ns;
        uint64_t order;
        size_t slot;
    };
    static bool is_before(const entry& a, const entry& b) {
        return a.when_ns != b.when_ns ? a.when_ns < b.when_ns : a.order < b.order;
    }
    [[nodiscard]] std::optional<size_t> slot_of(timer t) const;
    void put(size_t place, const entry& e);
    void settle(size_t place);
    void take_out(size_t place);

    std::vector<slot> slots_;
    std::vector<size_t> free_;
    std::vector<entry> heap_;  ///< the earliest first; each slot knows its place
    uint64_t order_ = 0;
    int64_t not_before_ns_ = INT64_MIN;
};

}  // namespace halcyon
