#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halcyon::predict::prefetch {

/// What came of reading ahead, of one thread or of all. Written by the thread, read by the one that ends the process.
enum class count : uint32_t {
    reads,       ///< that were seen
    predicted,   ///< that came as expected
    unexpected,  ///< that did not
    contiguous,  ///< expected ones left to the kernel, which reads ahead itself
    unsure,      ///< left alone: not probable enough, or their call site was wrong before
    not_open,    ///< left alone: no descriptor of the file is known
    unfit,       ///< left alone: past the page cache, or in memory anyway
    control,     ///< left alone for comparison
    undecided,   ///< left alone: there was no room, or no time
    asked,       ///< what became of them: the next four; or they were not read
    in_time,     ///< read without a wait for the storage
    late,        ///< still on their way, or read before the kernel was asked
    cached,      ///< were there already
    failed,      ///< the file was replaced, closed or truncated, or the kernel refused
    asked_bytes,
    used_bytes,     ///< of those that were not left unread
    limited,        ///< times that there was no room to go farther ahead
    off_no_gain,    ///< times that it was left for a while since it did not pay
    off_cached,     ///< … since everything was there already
    off_nothing,    ///< … since there was nothing to ask for
    off_no_thread,  ///< … since the system has no thread for it
    reads_off,      ///< that passed meanwhile
    shorter_ns,     ///< sum of what asked reads took less than the control
    longer_ns,      ///< … or more
    work_ns,        ///< of our own
    how_many,
};

inline constexpr const char* count_names[] = {"reads",         "predicted", "unexpected",  "contiguous", "unsure",
                                              "not_open",      "unfit",     "control",     "undecided",  "asked",
                                              "in_time",       "late",      "cached",      "failed",     "asked_bytes",
                                              "used_bytes",    "limited",   "off_no_gain", "off_cached", "off_nothing",
                                              "off_no_thread", "reads_off", "shorter_ns",  "longer_ns",  "work_ns"};
static_assert(sizeof count_names / sizeof count_names[0] == static_cast<size_t>(count::how_many));

class counts {
  public:
    void add(count what, int64_t by = 1) {
        auto& of = all_[static_cast<uint32_t>(what)];
        of.store(of.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }
    [[nodiscard]] int64_t operator[](count what) const {
        return all_[static_cast<uint32_t>(what)].load(std::memory_order_relaxed);
    }

  private:
    std::atomic<int64_t> all_[static_cast<uint32_t>(count::how_many)] = {};
};

}  // namespace halcyon::predict::prefetch
