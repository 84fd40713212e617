#pragma once

#include <array>
#include <cstdint>

#include "predict/tables/offset_table.hpp"
#include "predict/tables/touched_extents.hpp"

namespace halcyon::predict {

/// The files that a thread used last, the last one first, with the places in them.
class recent_files {
  public:
    static constexpr uint32_t most = 62;
    /// Rank of a file that is not among them.
    static constexpr uint32_t none = 63;

    struct file {
        uint32_t id = 0;
        uint32_t name_class = 0;
        int64_t start = -1;  ///< of the last access; -1: none since it was opened
        int64_t end = 0;
        int64_t end_before = -1;  ///< of the last access but one; -1: none since it was opened
        int64_t highest = 0;
    };

    /// Which one of its class it is, counted from the last one used; `none`.
    [[nodiscard]] uint32_t rank_of(uint32_t id, uint32_t name_class) const;
    /// The file of this rank in its class; null.
    [[nodiscard]] const file* at(uint32_t rank, uint32_t name_class) const;
    [[nodiscard]] const file* find(uint32_t id) const;
    /// Makes it the last one used; the one used longest ago is forgotten when there are too many.
    file& use(uint32_t id, uint32_t name_class);
    [[nodiscard]] const file* last() const { return count_ == 0 ? nullptr : &files_[order_[0]]; }

    /// It was opened: what is known of places in it is over, but for its size unless it was emptied.
    void open(file& opened, bool empties);
    /// Bytes `begin` up to `end` of it were accessed.
    void access(file& accessed, int64_t begin, int64_t end);
    /// Where offsets in it may be counted from, but for a context's own places.
    void add_places(offset_places& places, const file& of) const;

  private:
    static constexpr uint32_t most_touched = 4;
    struct touched {
        uint32_t file = 0;
        touched_extents extents;
    };
    [[nodiscard]] touched& touched_of(uint32_t id);

    std::array<file, most> files_;
    std::array<uint8_t, most> order_ = {};  // places in files_, the last one used first
    uint32_t count_ = 0;
    std::array<touched, most_touched> touched_;  // of the files that were accessed last
    uint32_t next_touched_ = 0;
};

}  // namespace halcyon::predict
