#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "calls/record/call_record.hpp"
#include "observe/trace/columns.hpp"

/// Columns as zstd likes them: a column whose numbers are all zero is nothing, one whose numbers are all the same is
/// that number, and others are planes of their bytes, the lowest first. Quick: for chunks that fill while an
/// application runs.
namespace halcyon::observe::trace {

/// Where planes end that are long enough for a table of their own: what is likely in one is not in the next.
class plane_ends {
  public:
    void add(size_t end, size_t numbers) {
        if (numbers >= fewest_numbers && count_ < ends_.size()) ends_[count_++] = static_cast<uint32_t>(end);
    }
    [[nodiscard]] std::span<const uint32_t> all() const { return std::span(ends_).first(count_); }

  private:
    static constexpr size_t fewest_numbers = 1024;
    std::array<uint32_t, static_cast<size_t>(column::count) * sizeof(uint64_t)> ends_;
    size_t count_ = 0;
};

class plane_writer {
  public:
    plane_writer(unsigned char* out, plane_ends& ends) : begin_(out), out_(out), ends_(ends) {}
    /// Always true.
    bool pass(column which, std::span<const calls::call_record> records, std::span<const uint64_t> side,
              std::span<uint64_t> values);
    [[nodiscard]] size_t bytes() const { return static_cast<size_t>(out_ - begin_); }

  private:
    unsigned char* begin_;
    unsigned char* out_;
    plane_ends& ends_;
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
