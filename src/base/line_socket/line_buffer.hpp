#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace halcyon {

/// Cuts a stream of bytes into lines, without copying them. A line ends with LF or CR LF, which is not part of it;
/// empty lines are lines; all other bytes, zero among them, are the reader's to judge.
///
/// The memory starts small, grows with the longest line that came, and never beyond the bound and its line end.
class line_buffer {
  public:
    explicit line_buffer(size_t most_line_bytes);

    /// Where the next bytes of the stream go; then filled() says how many did. Empty only after too_long(), or while
    /// next() has not been asked for all lines. Lines handed out before are void.
    [[nodiscard]] std::span<char> room();
    void filled(size_t bytes);

    /// The next complete line; none: more bytes are needed, or too_long(). Valid until room() is called.
    [[nodiscard]] std::optional<std::string_view> next();
    /// A line of more than the bound has begun; nothing follows any more.
    [[nodiscard]] bool too_long() const { return too_long_; }
    /// Bytes that no line has been made of: of a stream that ended, of its incomplete last line.
    [[nodiscard]] size_t left() const { return end_ - begin_; }
    [[nodiscard]] size_t capacity() const { return memory_.size(); }

  private:
    size_t most_line_bytes_;
    std::vector<char> memory_;
    size_t begin_ = 0, end_ = 0;  ///< of the bytes that no line has been made of
    size_t searched_ = 0;         ///< no LF before
    bool too_long_ = false;
};

}  // namespace halcyon
