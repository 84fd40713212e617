#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logfs/container/reading/reader.hpp"
#include "logfs/container/writing/writer_identity.hpp"

namespace halcyon::logfs::tests {

using bytes = std::vector<std::byte>;

/// What the container is to read as.
class plain_file {
  public:
    void write(int64_t offset, std::span<const std::byte> data) {
        if (data.empty()) return;
        const auto end = static_cast<size_t>(offset) + data.size();
        if (contents_.size() < end) contents_.resize(end);
        std::copy(data.begin(), data.end(), contents_.begin() + offset);
    }
    void truncate(int64_t size) { contents_.resize(static_cast<size_t>(size)); }
    void reach(int64_t size) {
        if (contents_.size() < static_cast<size_t>(size)) contents_.resize(static_cast<size_t>(size));
    }
    void erase(int64_t offset, int64_t length) {
        const auto end = std::min<int64_t>(offset + length, static_cast<int64_t>(contents_.size()));
        for (int64_t at = offset; at < end; ++at) contents_[static_cast<size_t>(at)] = std::byte{0};
    }
    [[nodiscard]] const bytes& contents() const { return contents_; }
    [[nodiscard]] int64_t size() const { return static_cast<int64_t>(contents_.size()); }
    friend bool operator==(const plain_file&, const plain_file&) = default;

  private:
    bytes contents_;
};

inline bytes random_bytes(std::mt19937_64& random, size_t count) {
    bytes data(count);
    uint64_t word = 0;
    for (size_t i = 0; i < count; ++i, word >>= 8) {
        if (i % 8 == 0) word = random();
        // No zeros: these are what holes read as.
        data[i] = static_cast<std::byte>((word & 0xff) | 1);
    }
    return data;
}

inline std::span<const std::byte> as_bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string as_text(std::span<const std::byte> data) {
    return {reinterpret_cast<const char*>(data.data()), data.size()};
}

inline writer_identity identity(int64_t pid, std::string_view host = "node0", std::string_view boot = "boot0") {
    writer_identity who;
    who.set_host(host);
    std::copy(boot.begin(), boot.end(), who.boot_id);
    who.pid = pid;
    who.rank = static_cast<int32_t>(pid);
    return who;
}

/// Options of a reader on the host of these writers.
inline reader_options beside_writers() {
    reader_options how;
    how.host = "node0";
    how.boot_id = "boot0";
    return how;
}

/// All of the file, or the failure as a test's.
inline bytes all_of(reader& from) {
    bytes data(static_cast<size_t>(from.size()));
    const auto read = from.read(0, data);
    if (!read) {
        ADD_FAILURE() << read.why().message;
        return {};
    }
    EXPECT_EQ(*read, static_cast<int64_t>(data.size()));
    return data;
}

/// Where two differ, for a message.
inline std::string difference(const bytes& a, const bytes& b) {
    if (a.size() != b.size()) return "sizes " + std::to_string(a.size()) + " and " + std::to_string(b.size());
    const auto [first, second] = std::mismatch(a.begin(), a.end(), b.begin());
    if (first == a.end()) return "none";
    return "at " + std::to_string(first - a.begin()) + ": " + std::to_string(static_cast<int>(*first)) + " and " +
           std::to_string(static_cast<int>(*second));
}

}  // namespace halcyon::logfs::tests
