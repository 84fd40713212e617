#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace halcyon {

/// Bytes that wait for a slow reader, in order, and never more than the bound. Takes memory only once something waits,
/// and keeps it.
class output_buffer {
  public:
    explicit output_buffer(size_t most_bytes) : most_bytes_(most_bytes) {}

    [[nodiscard]] size_t size() const { return end_ - begin_; }
    [[nodiscard]] bool empty() const { return begin_ == end_; }
    /// Whether so many more may wait.
    [[nodiscard]] bool fits(size_t bytes) const { return bytes <= most_bytes_ - size(); }
    [[nodiscard]] size_t most_bytes() const { return most_bytes_; }
    [[nodiscard]] size_t capacity() const { return memory_.size(); }

    /// The caller has asked whether they fit.
    void add(std::string_view bytes);
    [[nodiscard]] std::span<const char> waiting() const { return std::span(memory_).subspan(begin_, size()); }
    /// The first bytes of waiting() are gone.
    void sent(size_t bytes);

  private:
    size_t most_bytes_;
    std::vector<char> memory_;
    size_t begin_ = 0, end_ = 0;
};

}  // namespace halcyon
