#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "coordinate/client/turn_waiting.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// Takes the turns of one process at one file system, piece by piece, for threads that ask by themselves. Any thread,
/// in ordinary memory. (layer/turn_taker.hpp is the same inside the calls of applications, which have rounds, jumps and
/// forks.)
class mount_turn {
  public:
    mount_turn(page& shared, process_slot& slot, size_t file_system)
        : shared_(&shared), here_(&shared.file_system[file_system]), part_(&slot.at[file_system]) {}

    /// So many bytes more are to come, from now on; fewer than 0: they are not. The agent hears of it.
    void expect(int64_t bytes);
    /// A piece begins; waits until it may. `waited_ns`: what its file has waited before; grows by what this one waits.
    passage take(int64_t bytes, int64_t& waited_ns);
    /// The piece is moved.
    void give(int64_t bytes, passage how);

  private:
    [[nodiscard]] turn_place place() const { return {*shared_, *here_, *part_}; }
    void begin_phase();
    void tell(bool of_next);
    class waiting_piece;
    void count_in(int64_t bytes);
    void count_out(int64_t bytes);

    page* shared_;
    shared_file_system* here_;
    process_part* part_;
    std::atomic<int64_t> last_end_ns_{INT64_MIN / 2};
    std::mutex telling_;     ///< the forecast has one writer at a time
    int64_t to_come_ = 0;    ///< under telling_
    bool foretold_ = false;  ///< under telling_: as the next phase, which may have begun
};

}  // namespace halcyon::coordinate
