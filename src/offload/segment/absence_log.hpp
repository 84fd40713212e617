#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include "base/shared_layout.hpp"

namespace halcyon::offload {

/// A block of a client that will be in no file.
struct absence {
    enum class cause : uint32_t {
        skipped,      ///< dropped: the buffer was full
        uncommitted,  ///< allocated, and not committed when the client closed
    };
    int64_t iteration = 0;
    uint32_t variable = 0;
    int32_t block = 0;
    cause why = cause::skipped;
};
static_assert(has_copied_layout<absence, 24, 8>());

/// The last absences of one client; lies in shared memory, its slots behind it. The client alone writes: the slot, then
/// the count (release). A server that takes over reads what its predecessor may have known; older ones than there are
/// slots are forgotten. Nobody waits for anybody.
class absence_log {
  public:
    static constexpr uint64_t bytes_for(uint64_t slots) { return sizeof(absence_log) + slots * sizeof(absence); }

    /// `slots`: a power of two, the caller's own knowledge.
    void add(const absence& a, uint64_t slots) {
        const uint64_t n = written_.load(std::memory_order_relaxed);
        at(n & (slots - 1)) = a;
        written_.store(n + 1, std::memory_order_release);
    }

    /// Calls `each` with a copy of every absence that is still there, the oldest first.
    template <class Each>
    void for_each(uint64_t slots, Each each) const {
        const uint64_t n = written_.load(std::memory_order_acquire);
        for (uint64_t i = n > slots ? n - slots : 0; i < n; ++i) each(absence(at(i & (slots - 1))));
    }

  private:
    [[nodiscard]] absence& at(uint64_t i) const {
        return *(std::launder(reinterpret_cast<absence*>(const_cast<absence_log*>(this) + 1)) + i);
    }

    alignas(64) std::atomic<uint64_t> written_{0};
};
static_assert(has_shared_layout<absence_log, 64, 64>());
static_assert(are_shared_atomics<uint64_t>);

}  // namespace halcyon::offload
