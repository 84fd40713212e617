#pragma once

#include <cstdint>
#include <span>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/piece.hpp"

namespace halcyon::logfs {

/// Puts extents in order: by where they begin, then by time, then by where their data lie.
///
/// Many are put in order by numbers of 8 bytes, of which each says where an extent begins and which one it is, and are
/// then moved once. That takes memory, 50 bytes each, which stays for the next ones; where there is none, or they are
/// more than a million, it takes longer.
class extent_sorter {
  public:
    explicit extent_sorter(memory_source& memory) : keys_(memory), groups_(memory), sorted_(memory) {}

    void sort(std::span<extent> all);
    /// Its memory goes back.
    void release();

  private:
    [[nodiscard]] bool make_keys(std::span<const extent> all);

    page_array<uint64_t> keys_;
    page_array<uint32_t> groups_;
    page_array<extent> sorted_;
    unsigned number_bits_ = 0;
};

}  // namespace halcyon::logfs
