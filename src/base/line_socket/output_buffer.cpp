#include "base/line_socket/output_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace halcyon {
namespace {

constexpr size_t first_bytes = 4096;

}  // namespace

void output_buffer::add(std::string_view bytes) {
    if (bytes.empty()) return;
    if (end_ + bytes.size() > memory_.size() && begin_ > 0) {
        std::memmove(memory_.data(), memory_.data() + begin_, size());
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ + bytes.size() > memory_.size()) {
        const size_t wanted = std::max({first_bytes, 2 * memory_.size(), end_ + bytes.size()});
        memory_.resize(std::min(wanted, most_bytes_));
    }
    std::memcpy(memory_.data() + end_, bytes.data(), bytes.size());
    end_ += bytes.size();
}

void output_buffer::sent(size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
}

}  // namespace halcyon
