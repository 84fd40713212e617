#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon {

/// A mapping of anonymous shared memory (a sealed memfd): it has no name that could leak, collide or be squatted, its
/// pages are reserved when it is made, and nobody who holds it can change its size.
class shared_memory {
  public:
    shared_memory() = default;
    shared_memory(shared_memory&& other) noexcept { swap(other); }
    shared_memory& operator=(shared_memory&& other) noexcept {
        swap(other);
        return *this;
    }
    ~shared_memory();

    /// Makes `bytes` of zeroed memory, reserved now: too little room in /dev/shm is a failure here, never a SIGBUS
    /// later. `huge_pages` asks for them by advice; the system may decline.
    static result<shared_memory> create(std::string_view label, uint64_t bytes, bool huge_pages);

    /// Maps memory that another process made. Failure (usage): not sealed against growing and shrinking, or of
    /// another size than `bytes` (0 = any).
    static result<shared_memory> map(descriptor fd, uint64_t bytes, bool writable = true);

    /// Enters every page of [offset, offset + bytes) into this process's page tables.
    result<void> touch(uint64_t offset, uint64_t bytes);

    /// Forbids every further change of the contents (through this or any other mapping made later).
    result<void> freeze();

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] uint64_t size() const { return bytes_; }
    [[nodiscard]] int fd() const { return fd_.get(); }

  private:
    void swap(shared_memory& other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }

    descriptor fd_;
    std::byte* data_ = nullptr;
    uint64_t bytes_ = 0;
};

}  // namespace halcyon
