#include "base/line_socket/line_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace halcyon {
namespace {

constexpr size_t first_bytes = 4096, line_end_bytes = 2;

}  // namespace

line_buffer::line_buffer(size_t most_line_bytes)
    : most_line_bytes_(most_line_bytes), memory_(std::min(first_bytes, most_line_bytes + line_end_bytes)) {}

std::span<char> line_buffer::room() {
    if (too_long_) return {};
    if (begin_ == end_) begin_ = end_ = searched_ = 0;
    if (end_ == memory_.size() && begin_ > 0) {
        std::memmove(memory_.data(), memory_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        searched_ -= begin_;
        begin_ = 0;
    }
    // Full of one line, which next() has not found too long: it fits into the bound.
    if (end_ == memory_.size()) memory_.resize(std::min(2 * memory_.size(), most_line_bytes_ + line_end_bytes));
    return std::span(memory_).subspan(end_);
}

void line_buffer::filled(size_t bytes) {
    end_ += bytes;
}

std::optional<std::string_view> line_buffer::next() {
    if (too_long_) return std::nullopt;
    const char* const from = memory_.data() + searched_;
    const auto* const line_end = static_cast<const char*>(std::memchr(from, '\n', end_ - searched_));
    size_t bytes = line_end != nullptr ? static_cast<size_t>(line_end - memory_.data()) - begin_ : end_ - begin_;
    const size_t taken = bytes + (line_end != nullptr ? 1 : 0);
    // Without its LF a CR may yet be the line's end.
    if (bytes > 0 && memory_[begin_ + bytes - 1] == '\r') --bytes;
    if (bytes > most_line_bytes_) {
        too_long_ = true;
        return std::nullopt;
    }
    if (line_end == nullptr) {
        searched_ = end_;
        return std::nullopt;
    }
    const std::string_view line(memory_.data() + begin_, bytes);
    begin_ += taken;
    searched_ = begin_;
    return line;
}

}  // namespace halcyon
