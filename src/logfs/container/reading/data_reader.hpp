#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/open_files.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/data_checks.hpp"
#include "logfs/container/reading/data_files.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/piece.hpp"

namespace halcyon::logfs {

/// Reads segments from data droppings. What lies one behind the other in a dropping is read by one call, wherever it
/// belongs.
class data_reader {
  public:
    data_reader(container& from, memory_source& memory, open_files& files, const dropping_table& writers,
                data_checks& checks, bool verifies);

    /// Room for reading so many segments. False: no memory.
    [[nodiscard]] bool reserve(size_t segments);
    /// Its memory goes back.
    void release();
    /// Fills `out`, the bytes of the file from `begin` on, of which the segments are all. Failure: a data dropping is
    /// not there, ends too early, or does not fit its sums.
    result<void> read(std::span<const segment> segments, int64_t begin, std::span<std::byte> out);

    /// The bytes of a segment, or the first of them, go to another file by file_calls::copy(). How many; none where
    /// only reading them says why.
    [[nodiscard]] int64_t copy(const segment& from, int to, int64_t* to_offset);

    [[nodiscard]] uint64_t read_calls() const { return read_calls_; }
    [[nodiscard]] data_files& files() { return files_; }

  private:
    static constexpr uint32_t none = UINT32_MAX;
    static constexpr size_t most_parts = 1024;  // IOV_MAX

    struct chain {
        uint32_t first = none;
        uint32_t last = none;
    };

    void chain_up(std::span<const segment> segments);
    result<void> read_dropping(uint32_t dropping, std::span<const segment> segments, int64_t begin,
                               std::span<std::byte> out);
    result<void> read_parts(uint32_t dropping, int fd, int64_t physical, int64_t bytes);
    [[nodiscard]] failure failed(uint32_t dropping, std::string_view what, int why) const;

    container& container_;
    data_files files_;
    const dropping_table& writers_;
    data_checks& checks_;
    bool verifies_;
    page_array<chain> chains_;      // by dropping
    page_array<uint32_t> next_;     // by segment
    page_array<uint32_t> touched_;  // droppings
    page_array<iovec> parts_;
    uint64_t read_calls_ = 0;
};

}  // namespace halcyon::logfs
