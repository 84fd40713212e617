#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/space/dead_blocks.hpp"
#include "logfs/container/space/giving_back.hpp"
#include "logfs/container/writing/writer.hpp"

namespace halcyon::logfs {

/// Keeps a file that one process writes over and over from growing: what its writer has replaced of its own data is
/// given back, and all data of writers that had ended when it truncated the file to nothing.
///
/// What may be dead is counted as it is written, from above: a write that begins before the furthest one may replace as
/// much as it writes. When that is enough, the writer's own index is looked at, and nothing else: what the writer
/// replaced is dead whatever others wrote. So a writer that only goes forward never looks, and one that does not looks
/// again when it has written half as much as it has alive, or more.
///
/// Behind a sync, what is committed is dead by what is committed. Else what no commit names yet may go, too, once the
/// index is on the device, so that other nodes see it; the data need not be (giving_back.hpp says why). Not where the
/// data lie on the node's disk first, or in a file that writers of the node share. A view of somebody else's that is in
/// the way is waited for until the next sync. What the file system refuses is not tried again, and noted in the
/// container.
class own_space {
  public:
    /// Of dead data that a writer leaves where they are, beside half of what it has alive.
    static constexpr int64_t usual_least_bytes = int64_t{4} << 20;

    explicit own_space(container& of) : container_(of), giving_back_(of) {}

    /// Another writer writes from now on, or none.
    void begin(int64_t least_bytes = usual_least_bytes);

    /// The writer's data reached to `end` in the file before.
    void wrote(int64_t offset, int64_t bytes, int64_t end) {
        if (offset < end) [[unlikely]]
            replaced_bytes_ += std::min(bytes, end - offset);
    }
    void erased(int64_t bytes, const writer& by) { may_have_replaced(bytes, by); }
    /// The writer has cut the file to `to` bytes. It had `size`, all of them written by `seen_ns`, and the writer's own
    /// reached to `end`.
    void cut(int64_t to, int64_t end, int64_t size, int64_t seen_ns, const writer& by);
    void synced(const writer& by) { committed_bytes_ = by.index().state().data_bytes; }

    /// Behind a sync, and before the writer is closed.
    [[nodiscard]] bool is_worth_it() const {
        return has_cut_ || !parts_.empty() || replaced_bytes_ >= std::max(least_bytes_, live_bytes_ / 2);
    }
    /// In the midst of writing: of a program that does not sync, more is dead than alive.
    [[nodiscard]] bool is_overdue(const writer& by) const {
        const int64_t replaced_bytes = replaced_bytes_ - attended_bytes_;
        if (replaced_bytes < 4 * least_bytes_) [[likely]]
            return false;
        const int64_t unsynced_bytes = by.index().state().data_bytes - committed_bytes_;
        return replaced_bytes >= live_bytes_ && unsynced_bytes >= live_bytes_ + live_bytes_ / 2;
    }
    /// As much as can be. `shown` is this process's own view, which may be renewed when it is read next.
    void give_back(reader& shown, writer& by);

  private:
    /// Dead blocks of one data dropping.
    struct part {
        short_name data_name;
        size_t first;  ///< among ranges_
        size_t count;
        bool is_own;
    };

    void may_have_replaced(int64_t bytes, const writer& by) {
        replaced_bytes_ += std::min(bytes, by.index().state().data_bytes);
    }
    [[nodiscard]] bool find(reader& shown, writer& by);
    [[nodiscard]] bool find_own(writer& by, bool is_committed);
    [[nodiscard]] bool find_older(const reader& shown, const writer& by, bool is_committed);
    int punch();
    void forget_parts();

    container& container_;
    memory_source memory_{container_.calls()};
    giving_back giving_back_;
    std::optional<reader> looking_;
    int64_t least_bytes_ = usual_least_bytes;
    int64_t replaced_bytes_ = 0;   // since it was looked at behind a sync, at most
    int64_t attended_bytes_ = 0;   // of these, what was looked at in the midst of writing
    int64_t live_bytes_ = 0;       // of the writer, when it was
    int64_t committed_bytes_ = 0;  // of its data
    bool has_cut_ = false;         // to nothing, and what is older may still be there
    int64_t cut_over_ns_ = 0;      // all by then
    bool is_refused_ = false;
    // What is dead, and still there.
    page_array<part> parts_{memory_};
    page_array<byte_range> ranges_{memory_};
    page_array<byte_range> given_back_{memory_};  // of the writer's data
};

}  // namespace halcyon::logfs
