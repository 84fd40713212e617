#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "base/shared_layout.hpp"

namespace halcyon::offload {

/// A value in shared memory with one writer at a time. No reader ever has half of one, and nobody waits for anybody.
///
/// Version v lies in page v & 1. The writer fills the page that is not valid, word by word, and then raises the version
/// to v + 1 (release). A reader takes the version (acquire), copies its page, and looks at the version again: page v &
/// 1 is filled anew only for version v + 2, after the version was raised to v + 1, and each of its words is a release
/// that the reader acquires. Hence a version that did not change stands for a page that did not. A writer that dies
/// while it fills a page leaves the version before, whole; its successor fills that page again.
///
/// Begins as zeros, which are version 0.
template <class T>
class versioned_pages {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint64_t) == 0);
    using words = std::array<uint64_t, sizeof(T) / sizeof(uint64_t)>;

  public:
    struct found {
        uint64_t version = 0;
        T value{};
    };

    /// The version of what a reader would get now.
    [[nodiscard]] uint64_t version() const { return version_.load(std::memory_order_acquire); }

    /// nullopt: written over and over meanwhile.
    [[nodiscard]] std::optional<found> read() const {
        for (int attempt = 0; attempt < 8; ++attempt) {
            const uint64_t before = version();
            words copy;
            for (size_t i = 0; i < copy.size(); ++i) copy[i] = pages_[before & 1][i].load(std::memory_order_acquire);
            if (version_.load(std::memory_order_relaxed) != before) continue;
            return found{before, std::bit_cast<T>(copy)};
        }
        return std::nullopt;
    }

    void write(const T& value) {
        const uint64_t next = version_.load(std::memory_order_relaxed) + 1;
        const auto copy = std::bit_cast<words>(value);
        for (size_t i = 0; i < copy.size(); ++i) pages_[next & 1][i].store(copy[i], std::memory_order_release);
        version_.store(next, std::memory_order_release);
    }

  private:
    std::atomic<uint64_t> version_{0};
    std::array<std::array<std::atomic<uint64_t>, std::tuple_size_v<words>>, 2> pages_{};
};
static_assert(has_shared_layout<versioned_pages<uint64_t>, 24, 8>());
static_assert(are_shared_atomics<uint64_t>);

}  // namespace halcyon::offload
