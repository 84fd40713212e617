#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "predict/prefetch/open_files.hpp"

namespace halcyon::predict::prefetch {

/// A range of a file that the kernel is to be asked for.
struct request {
    open_files::place where;
    int64_t offset = 0;
    int64_t bytes = 0;
};

/// What became of a request.
enum class outcome : uint32_t {
    waiting,     ///< nobody took it up yet
    taken,       ///< the kernel is being asked
    asked,       ///< it was asked
    withdrawn,   ///< the application's read came before
    cached,      ///< the page cache had all of it
    other_file,  ///< the descriptor stands for another file by now, or for none
    beyond_end,  ///< the file ends before
    refused,     ///< by the kernel
};

/// The requests of one thread on their way to the one that asks the kernel (asker).
///
/// The thread writes a slot and then `end_`; the asker reads up to `end_`, and then writes `begin_`. A slot's outcome
/// is changed from `waiting` by either, by compare-and-swap: by the thread to `withdrawn`, by the asker to `taken`. A
/// jump out of the thread's part leaves a slot that nobody sees.
class request_ring {
  public:
    static constexpr uint32_t most = 256;

    /// The new request's number; false: there is no room.
    bool push(const request& wanted, uint32_t& number) {
        number = end_.load(std::memory_order_relaxed);
        if (number - begin_.load(std::memory_order_acquire) >= most) return false;
        slot& to = slots_[number % most];
        to.what = wanted;
        to.number = number;
        to.became.store(outcome::waiting, std::memory_order_relaxed);
        end_.store(number + 1);
        return true;
    }
    /// What has become of it, which a read waits for no longer: one that is waiting is withdrawn. Of one so old that
    /// its slot is another's, it is taken to have been asked.
    outcome end(uint32_t number) {
        slot& of = slots_[number % most];
        if (of.number != number) return outcome::asked;
        outcome found = outcome::waiting;
        if (of.became.compare_exchange_strong(found, outcome::withdrawn)) return outcome::withdrawn;
        return found;
    }

    /// For the asker: ask(const request&) -> outcome, of all that are waiting.
    template <class Ask>
    void each(Ask ask) {
        uint32_t next = begin_.load(std::memory_order_relaxed);
        while (next != end_.load()) {
            slot& of = slots_[next % most];
            outcome found = outcome::waiting;
            if (of.became.compare_exchange_strong(found, outcome::taken)) of.became.store(ask(of.what));
            begin_.store(++next, std::memory_order_release);
        }
    }

  private:
    struct slot {
        request what;
        uint32_t number = UINT32_MAX;
        std::atomic<outcome> became{outcome::waiting};
    };
    std::atomic<uint32_t> begin_{0};
    std::atomic<uint32_t> end_{0};
    std::array<slot, most> slots_;
};

}  // namespace halcyon::predict::prefetch
