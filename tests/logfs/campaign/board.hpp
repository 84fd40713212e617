#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string_view>

#include "expected_file.hpp"

namespace halcyon::logfs::campaign {

constexpr int writer_count = 4;
constexpr int reader_count = 2;
constexpr int process_count = writer_count + reader_count;

/// What a writer is about to do, for whoever comes after it: `begun` before the call, `returned` behind it, `idle` when
/// the expected file has it.
struct journal {
    enum state : uint32_t { idle, begun, returned };

    std::atomic<uint32_t> phase{idle};
    change what;
};

/// Of one process, and of those that take its place when it is killed.
struct place {
    journal under_way;
    std::atomic<int64_t> left{0};  ///< operations of this turn
    std::atomic<uint64_t> done{0};
    std::atomic<uint64_t> reads{0};
    char last_step[32] = {};
};

/// Parts of the file. In a turn without a lock each belongs to one writer, or to nobody.
struct parts {
    static constexpr int count = 48;
    static constexpr int nobody = writer_count;

    int64_t edges[count + 1] = {};
    int owners[count] = {};
};

/// What the processes of a campaign share.
struct board {
    expected_file expected;
    parts of_file;
    std::atomic<bool> is_over{false};      ///< readers end their turn
    std::atomic<bool> has_lock{false};     ///< in this turn all change all of the file, one after the other
    std::atomic<int64_t> changed_last{0};  ///< with the lock: what follows at once is the likeliest to be mistaken
    place places[process_count];

    static board& make() {
        void* const room = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) throw std::bad_alloc();
        return *new (room) board;
    }
    void take_away() { munmap(this, sizeof *this); }

    /// The first failure counts.
    [[gnu::format(printf, 2, 3)]] void fail(const char* format, ...) {
        if (is_failing_.exchange(true)) return;
        va_list words;
        va_start(words, format);
        vsnprintf(text_, sizeof text_, format, words);
        va_end(words);
        has_failed_ = true;
    }
    [[nodiscard]] bool has_failed() const { return has_failed_; }
    [[nodiscard]] const char* text() const { return text_; }

  private:
    std::atomic<bool> is_failing_{false};
    std::atomic<bool> has_failed_{false};
    char text_[2000] = {};
};

}  // namespace halcyon::logfs::campaign
