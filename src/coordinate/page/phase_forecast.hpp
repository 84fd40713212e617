#pragma once

#include <algorithm>
#include <cstdint>

#include "coordinate/page/claimed_version.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// What a process is expected to do at one file system. Bytes and times of 0: not known.
struct phase_forecast {
    int64_t told_ns = 0;  ///< when; 0: never
    int64_t told_bytes = 0;
    int64_t bytes_left = 0;
    int64_t left_ns = 0;
    int64_t next_in_ns = 0;
    int64_t next_deviation_ns = 0;
    int64_t next_bytes = 0;
    int64_t next_alone_ns = 0;
    double next_probability = 0;

    bool operator==(const phase_forecast&) const = default;

    /// `moved`: by the process until now, unasked ones included.
    [[nodiscard]] int64_t bytes_left_after(int64_t moved) const {
        return std::max<int64_t>(bytes_left - std::max<int64_t>(moved - told_bytes, 0), 0);
    }
    /// What it moved, and was not to move itself.
    [[nodiscard]] int64_t moved_beyond(int64_t moved) const {
        return bytes_left > 0 ? std::max<int64_t>(moved - told_bytes - bytes_left, 0) : 0;
    }
    /// Time passes while a process waits or others are in its way: so what is left of the time shrinks with the bytes,
    /// and by itself only where none are known.
    [[nodiscard]] int64_t left_ns_after(int64_t moved, int64_t now_ns) const {
        if (bytes_left <= 0) return std::max<int64_t>(left_ns - (now_ns - told_ns), 0);
        const double share = static_cast<double>(bytes_left_after(moved)) / static_cast<double>(bytes_left);
        return static_cast<int64_t>(static_cast<double>(left_ns) * share);
    }
    /// One that did not begin when it was due, with a quarter of that time and two deviations on top, is not expected
    /// any more.
    [[nodiscard]] bool expects_next(int64_t now_ns) const {
        if (next_probability <= 0) return false;
        return now_ns - told_ns <= next_in_ns + next_in_ns / 4 + 2 * next_deviation_ns + grace_ns;
    }
    /// Before a phase that is due does not count as late.
    static constexpr int64_t grace_ns = 20'000'000;
    /// In bytes and in nanoseconds.
    static constexpr int64_t farthest = int64_t{1} << 60U;

    /// Of the next phase, from the moment on at which that has begun.
    [[nodiscard]] phase_forecast in_next() const {
        phase_forecast begun = *this;
        begun.bytes_left = next_bytes;
        begun.left_ns = next_alone_ns;
        begun.next_probability = 0;
        return begun;
    }

    /// By the only thread that writes there. A change that was left in the middle before is over.
    void write_to(shared_forecast& shared) const {
        const uint32_t changing = shared.version.load(std::memory_order_relaxed) | 1;
        shared.version.store(changing, std::memory_order_relaxed);
        put(shared);
        shared.version.store(changing + 1, std::memory_order_release);
    }
    /// By one of several threads of the process, the layer's and the program's: waits until no other one writes. Then
    /// `may()` is asked, and says whether anything is written.
    template <class May>
    void write_if(shared_forecast& shared, May may) const {
        const uint32_t changing = claim_version(shared.version);
        if (may()) put(shared);
        shared.version.store(changing + 1, std::memory_order_release);
    }
    /// Whatever a process has written there, also one that was killed while it did. Nothing is known of one that is
    /// changing.
    static phase_forecast read_from(const shared_forecast& shared) {
        constexpr auto relaxed = std::memory_order_relaxed;
        const uint32_t version = shared.version.load(std::memory_order_acquire);
        const auto time = [](const std::atomic<int64_t>& one) {
            return std::clamp<int64_t>(one.load(relaxed), 0, farthest);
        };
        phase_forecast read;
        read.told_ns = time(shared.told_ns);
        read.told_bytes = time(shared.told_bytes);
        read.bytes_left = time(shared.bytes_left);
        read.left_ns = time(shared.left_ns);
        read.next_in_ns = time(shared.next_in_ns);
        read.next_deviation_ns = time(shared.next_deviation_ns);
        read.next_bytes = time(shared.next_bytes);
        read.next_alone_ns = time(shared.next_alone_ns);
        read.next_probability = std::min(static_cast<double>(shared.next_probability.load(relaxed)) / 1e6, 1.0);
        std::atomic_thread_fence(std::memory_order_acquire);
        const bool whole = version % 2 == 0 && shared.version.load(relaxed) == version;
        return whole ? read : phase_forecast{};
    }

  private:
    /// While the version is odd.
    void put(shared_forecast& shared) const {
        constexpr auto relaxed = std::memory_order_relaxed;
        std::atomic_thread_fence(std::memory_order_release);
        shared.next_probability.store(static_cast<uint32_t>(std::clamp(next_probability, 0.0, 1.0) * 1e6), relaxed);
        shared.told_ns.store(told_ns, relaxed);
        shared.told_bytes.store(told_bytes, relaxed);
        shared.bytes_left.store(bytes_left, relaxed);
        shared.left_ns.store(left_ns, relaxed);
        shared.next_in_ns.store(next_in_ns, relaxed);
        shared.next_deviation_ns.store(next_deviation_ns, relaxed);
        shared.next_bytes.store(next_bytes, relaxed);
        shared.next_alone_ns.store(next_alone_ns, relaxed);
    }
};

}  // namespace halcyon::coordinate
