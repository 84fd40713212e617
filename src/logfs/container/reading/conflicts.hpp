#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/overlay.hpp"
#include "logfs/container/reading/piece.hpp"

namespace halcyon::logfs {

/// A range that two writers wrote at times that do not say which was first.
struct conflict {
    int64_t start;
    int64_t length;
    uint32_t shown;   ///< whose bytes are read
    uint32_t hidden;  ///< whose are not; of several one
};

/// Finds where the write that is read may not be the last one. Of one writer only the latest write to a byte matters:
/// the writer's own order is known, so what is certainly over the latest is over all.
class conflict_finder {
  public:
    conflict_finder(memory_source& memory, const dropping_table& writers)
        : writers_(writers), all_(memory), latest_(memory), active_(memory), doubts_(memory) {}

    /// Resolves what is in the overlay, and appends the conflicts in it, by where they start. False: no memory.
    [[nodiscard]] bool resolve(overlay& over, page_array<conflict>& out);
    /// Its memory goes back.
    void release();

  private:
    struct doubt {
        int64_t begin;
        int64_t end;
        uint32_t hidden;
    };

    [[nodiscard]] bool keep_latest_of_each(overlay& over);
    [[nodiscard]] bool find_doubts(const piece& shown);
    [[nodiscard]] bool append_doubts(const piece& shown, page_array<conflict>& out);
    [[nodiscard]] doubt doubt_between(const piece& shown, const piece& hidden) const;
    [[nodiscard]] bool is_in_doubt(const piece& a, const piece& b, int64_t position) const;

    const dropping_table& writers_;
    page_array<piece> all_;
    page_array<piece> latest_;     // of each writer
    page_array<uint32_t> active_;  // of these, what overlaps the current piece
    page_array<doubt> doubts_;
};

}  // namespace halcyon::logfs
