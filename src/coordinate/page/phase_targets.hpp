#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "coordinate/page/claimed_version.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// The storage targets of a process's own phases at one file system, from the side of the process. Several phases of it
/// may be under way, each of a handle: together they use the targets of all, and any where one does not know its own.
/// That only grows until all of them have ended.
///
/// A phase is counted here before it asks for the turn, and until it has given the turn back. So the agent, which reads
/// all of it under one even version, knows of each process that asks or moves whether its program has announced that.
/// It also knows then how many bytes the process moved at other times: by calls that a layer sees, of which nobody
/// tells the targets. No byte is counted for that, in no call: what was moved before and within the phases is noted
/// when they begin and end.
class phase_targets {
  public:
    explicit phase_targets(shared_targets& of) : shared_(&of) {}

    /// A phase begins. `targets`: in ascending order, each once; none: not known. `moved`: by the process until now,
    /// unasked bytes included.
    void begin(std::span<const uint32_t> targets, int64_t moved) {
        const change now(*shared_);
        if (shared_->turns.load(relaxed) == 0) {
            shared_->moved_before.store(moved, relaxed);
            shared_->count.store(0, relaxed);
        }
        add_to_list(targets);
        shared_->turns.fetch_add(1, relaxed);
    }
    /// Of a phase that has begun, more is known. False: nothing new.
    bool add(std::span<const uint32_t> targets) {
        if (covers(targets)) return false;
        const change now(*shared_);
        add_to_list(targets);
        return true;
    }
    void end(int64_t moved) {
        const change now(*shared_);
        if (shared_->turns.load(relaxed) == 0) return;
        if (shared_->turns.fetch_sub(1, relaxed) == 1) leave(moved);
    }
    /// All of them end: their program is gone, perhaps in the middle of a change. By the only thread of the next one.
    void forget(int64_t moved) {
        const change now(*shared_, shared_->version.load(relaxed) | 1);
        if (shared_->turns.exchange(0, relaxed) != 0) leave(moved);
    }
    /// Whether the coordinator has heard of all that is known.
    [[nodiscard]] bool are_told() const {
        return shared_->told_version.load(std::memory_order_acquire) == shared_->version.load(relaxed);
    }

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;

    class change {
      public:
        explicit change(shared_targets& of) : change(of, claim_version(of.version)) {}
        change(shared_targets& of, uint32_t version) : of_(&of), version_(version) {
            of.version.store(version, relaxed);
            std::atomic_thread_fence(std::memory_order_release);
        }
        ~change() { of_->version.store(version_ + 1, std::memory_order_release); }
        change(const change&) = delete;
        change& operator=(const change&) = delete;

      private:
        shared_targets* of_;
        uint32_t version_;
    };

    void leave(int64_t moved) {
        shared_->moved_within.fetch_add(moved - shared_->moved_before.load(relaxed), relaxed);
        shared_->count.store(0, relaxed);
    }
    [[nodiscard]] bool covers(std::span<const uint32_t> targets) const {
        const uint32_t count = shared_->count.load(relaxed);
        if (count > shared_targets::most) return true;
        if (targets.empty()) return false;
        const std::span all(shared_->at, count);
        return std::ranges::all_of(targets, [&](uint32_t one) {
            return std::ranges::any_of(all, [&](const auto& known) { return known.load(relaxed) == one; });
        });
    }
    void add_to_list(std::span<const uint32_t> targets) {
        const uint32_t count = shared_->count.load(relaxed);
        if (targets.empty()) return shared_->count.store(shared_targets::not_known, relaxed);
        if (count > shared_targets::most) return;
        std::array<uint32_t, shared_targets::most> before, both;
        for (uint32_t i = 0; i < count; ++i) before[i] = shared_->at[i].load(relaxed);
        size_t first = 0, second = 0, used = 0;
        while (first < count || second < targets.size()) {
            const bool is_first = second == targets.size() || (first < count && before[first] <= targets[second]);
            const uint32_t next = is_first ? before[first++] : targets[second++];
            if (used > 0 && both[used - 1] == next) continue;
            if (used == both.size()) return shared_->count.store(shared_targets::not_known, relaxed);
            both[used++] = next;
        }
        for (size_t i = 0; i < used; ++i) shared_->at[i].store(both[i], relaxed);
        shared_->count.store(static_cast<uint32_t>(used), relaxed);
    }

    shared_targets* shared_;
};

}  // namespace halcyon::coordinate
