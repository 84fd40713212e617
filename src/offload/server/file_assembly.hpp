#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "offload/model/model.hpp"
#include "offload/server/file_work.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/loss_report.hpp"

namespace halcyon::offload {

/// Decides which blocks go into a file, and finds their bytes. A block is in one file on its way at most: `in_job` of
/// the book says so, from the moment that its file is put together until that is settled or taken apart.
///
/// The loop's thread alone uses it.
class file_assembly {
  public:
    file_assembly(const model& data, iteration_book& book, held_blocks& held, journal& notes, loss_report& losses)
        : data_(data), book_(book), held_(held), journal_(notes), losses_(losses) {}

    /// The blocks of complete iterations that no early part holds, and what is known to be missing.
    std::shared_ptr<file_work> of_iterations(uint32_t store, std::vector<int64_t> iterations);
    /// Blocks of the oldest iteration whose room comes free once they are written: handed over, and not outliving
    /// their iteration. The part has no number yet. Null: there are none.
    std::shared_ptr<file_work> early_part();
    /// Fills in the blocks of the request. One that cannot be read back from its spill file is lost, and leaves `work`.
    void find_bytes(file_work& work);
    /// Takes the iterations behind the first `kept` out of the file, and returns them: they may go into another one.
    std::vector<int64_t> take_out(file_work& work, size_t kept);

  private:
    const model& data_;
    iteration_book& book_;
    held_blocks& held_;
    journal& journal_;
    loss_report& losses_;
};

}  // namespace halcyon::offload
