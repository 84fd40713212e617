#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Where the arrays of one user take their memory, and how much of it they may take together. Pages of the system,
/// never malloc: an application may be in the middle of that when it makes a call.
class memory_source {
  public:
    explicit memory_source(file_calls& calls, uint64_t most_bytes = UINT64_MAX) : calls_(calls), most_(most_bytes) {}
    memory_source(const memory_source&) = delete;
    memory_source& operator=(const memory_source&) = delete;

    [[nodiscard]] void* take(size_t bytes) {
        if (!count(bytes)) return nullptr;
        void* const at = calls_.take_pages(bytes);
        if (at == nullptr) used_ -= bytes;
        return at;
    }
    [[nodiscard]] void* resize(void* at, size_t bytes, size_t wanted) {
        if (wanted > bytes && !count(wanted - bytes)) return nullptr;
        void* const moved = calls_.resize_pages(at, bytes, wanted);
        if (moved == nullptr && wanted > bytes) used_ -= wanted - bytes;
        if (moved != nullptr && wanted < bytes) used_ -= bytes - wanted;
        return moved;
    }
    void give_back(void* at, size_t bytes) {
        calls_.return_pages(at, bytes);
        used_ -= bytes;
    }

    /// Of a file, to be read only; to be given back as all others.
    [[nodiscard]] void* map(int fd, int64_t offset, size_t bytes) {
        if (!count(bytes)) return nullptr;
        void* const at = calls_.map_pages(fd, offset, bytes);
        if (at == nullptr) used_ -= bytes;
        return at;
    }

    [[nodiscard]] uint64_t most() const { return most_; }
    [[nodiscard]] uint64_t used() const { return used_; }
    [[nodiscard]] uint64_t peak() const { return peak_; }

  private:
    [[nodiscard]] bool count(size_t bytes) {
        if (bytes > most_ - used_) return false;
        used_ += bytes;
        if (used_ > peak_) peak_ = used_;
        return true;
    }

    file_calls& calls_;
    uint64_t most_;
    uint64_t used_ = 0;
    uint64_t peak_ = 0;
};

}  // namespace halcyon::logfs
