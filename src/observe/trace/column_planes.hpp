#pragma once

#include <cstdint>
#include <span>

#include "calls/call_record.hpp"
#include "observe/trace/columns.hpp"

/// Columns as zstd likes them: a column whose numbers are all zero is nothing, one whose numbers are all the same is
/// that number, and others are planes of their bytes, the lowest first. Quick: for chunks that fill while an
/// application runs.
namespace halcyon::observe::trace {

class plane_writer {
  public:
    explicit plane_writer(unsigned char* out) : out_(out) {}
    /// Always true.
    bool pass(column which, std::span<const calls::call_record> records, std::span<const uint64_t> side,
              std::span<uint64_t> values);
    [[nodiscard]] unsigned char* end() const { return out_; }

  private:
    unsigned char* out_;
};

class plane_reader {
  public:
    explicit plane_reader(std::span<const unsigned char> planes) : rest_(planes) {}
    /// False when the bytes are no column of so many numbers.
    bool pass(column which, std::span<const calls::call_record> records, std::span<const uint64_t> side,
              std::span<uint64_t> values);
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

  private:
    std::span<const unsigned char> rest_;
};

}  // namespace halcyon::observe::trace
