#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace halcyon::calls::in_memory {

/// A place in a caller's pieces, as readv(2) gets them.
class piece_cursor {
  public:
    piece_cursor(const iovec* pieces, int count) : piece_(pieces), end_(pieces + count) { skip_empty(); }

    /// All bytes; -EINVAL where they are more than a call can say that it moved.
    [[nodiscard]] static int64_t total(const iovec* pieces, int count) {
        uint64_t bytes = 0;
        for (int i = 0; i < count; ++i) {
            bytes += pieces[i].iov_len;
            if (pieces[i].iov_len > most || bytes > most) return -EINVAL;
        }
        return static_cast<int64_t>(bytes);
    }

    void copy_to(std::byte* to, int64_t bytes) {
        each(bytes, [&](std::byte* piece, size_t part) {
            std::memcpy(to, piece, part);
            to += part;
        });
    }
    void copy_from(const std::byte* from, int64_t bytes) {
        each(bytes, [&](std::byte* piece, size_t part) {
            std::memcpy(piece, from, part);
            from += part;
        });
    }
    void fill_with_zeros(int64_t bytes) {
        each(bytes, [](std::byte* piece, size_t part) { std::memset(piece, 0, part); });
    }

  private:
    static constexpr uint64_t most = std::numeric_limits<int64_t>::max();

    template <class Part>
    void each(int64_t bytes, Part part) {
        while (bytes > 0) {
            const size_t left = piece_->iov_len - within_;
            const size_t now = left < static_cast<uint64_t>(bytes) ? left : static_cast<size_t>(bytes);
            part(static_cast<std::byte*>(piece_->iov_base) + within_, now);
            bytes -= static_cast<int64_t>(now);
            within_ += now;
            if (within_ == piece_->iov_len) {
                ++piece_;
                within_ = 0;
                skip_empty();
            }
        }
    }
    void skip_empty() {
        while (piece_ != end_ && piece_->iov_len == 0) ++piece_;
    }

    const iovec* piece_;
    const iovec* end_;
    size_t within_ = 0;
};

}  // namespace halcyon::calls::in_memory
