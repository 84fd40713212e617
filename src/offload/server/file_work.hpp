#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "offload/output/output_writer.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// A file that could not be written is tried again after this.
inline constexpr int64_t pause_after_failure_ns = 200'000'000;

/// One file on its way: what it holds, and which blocks it pins.
struct file_work {
    output_writer::request request;
    std::vector<iteration_book::key> keys;
    std::vector<std::vector<std::byte>> spilled;  ///< blocks read back from spill files
    int64_t complete_ns = 0;                      ///< real time at which the last iteration became complete
    int64_t give_up_ns = 0;  ///< monotonic time after which a failing write is not tried again; 0: it was not tried
    int64_t not_before_ns = 0;
    int64_t paused_ns = 0;      ///< waited for its turn in the midst of the file, at the last attempt
    int64_t unasked_bytes = 0;  ///< stored without the turn that the configuration asks for
    worker_pool::patience wait = worker_pool::patience::may_hurry;

    [[nodiscard]] bool is_early_part() const { return request.part > 0; }
};

}  // namespace halcyon::offload
