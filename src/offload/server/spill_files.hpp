#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/client_roster.hpp"

namespace halcyon::offload {

/// The spill files of the node's clients: who has blocks in one, whose file has come, and the bytes in it.
///
/// The loop's thread alone uses it, and reads what was spilled on that thread.
class spill_files {
  public:
    explicit spill_files(uint32_t clients) : files_(clients), needed_(clients, false), lost_(clients, false) {}

    /// Some blocks of the client lie in its file.
    void need(uint32_t client) { needed_[client] = true; }
    /// The client's file; without a descriptor where this process could not take it, which is final. False: so it is.
    bool bring(uint32_t client, descriptor file);
    /// Blocks that were spilled can be stored only once their clients have brought their files to this server.
    [[nodiscard]] bool are_here(const client_roster& clients) const;

    /// -1: there is none.
    [[nodiscard]] int file_of(uint32_t client) const { return files_[client].get(); }
    /// The bytes of a block. Failure (system): the file does not hold them.
    [[nodiscard]] result<std::vector<std::byte>> read(const checked_block& b) const;
    /// Gives the block's room in the file back to the file system.
    void discard(const checked_block& b) const;

  private:
    std::vector<descriptor> files_;
    std::vector<bool> needed_, lost_;
};

}  // namespace halcyon::offload
