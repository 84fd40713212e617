#pragma once

#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/reader.hpp"

namespace halcyon::logfs {

/// Bytes of a data dropping.
struct byte_range {
    int64_t begin;
    int64_t end;

    [[nodiscard]] int64_t bytes() const { return end - begin; }
    friend bool operator==(const byte_range&, const byte_range&) = default;
};

/// Of what a reader shows, the bytes of data droppings that are read; so all other blocks of these are dead.
///
/// What is dead stays so, in every view that holds what this one holds, whatever else that holds: of each byte of the
/// file the latest write counts, and another one that is later still has not made this one the latest again.
class dead_blocks {
  public:
    static constexpr int64_t block = 4096;

    explicit dead_blocks(memory_source& memory) : live_(memory) {}

    /// What was summed together (data_checks) is read as a whole, if the reader keeps sums. Failures of the reader.
    result<void> look(reader& in);

    /// Appends the whole blocks in [begin, end) of a dropping, as the reader numbers it, that are dead. False: no
    /// memory.
    [[nodiscard]] bool find(uint32_t dropping, int64_t begin, int64_t end, page_array<byte_range>& dead) const;
    [[nodiscard]] int64_t live_bytes(uint32_t dropping) const;

  private:
    struct live_range {
        uint32_t dropping;
        byte_range bytes;
    };

    [[nodiscard]] bool note(const segment& read);
    [[nodiscard]] std::span<const live_range> of(uint32_t dropping) const;

    page_array<live_range> live_;  // by dropping, and in order
};

[[nodiscard]] int64_t total_bytes(std::span<const byte_range> ranges);
/// Makes `all` hold what `more` holds, too, in order and apart. False: no memory.
[[nodiscard]] bool unite(page_array<byte_range>& all, std::span<const byte_range> more);
/// What of `from` is in none of `without`, both of them in order and apart. False: no memory.
[[nodiscard]] bool subtract(std::span<const byte_range> from, std::span<const byte_range> without,
                            page_array<byte_range>& out);

}  // namespace halcyon::logfs
