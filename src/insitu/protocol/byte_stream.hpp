#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace halcyon::insitu {

/// Writes values one behind the other, for byte_reader. A message lists its fields once, for both:
///
///     template <class Stream> void fields(Stream& s) { s(number); s(text); s(list); }
class byte_writer {
  public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void operator()(const T& value) { add(&value, sizeof value); }
    void operator()(const std::string& text) {
        (*this)(uint64_t{text.size()});
        add(text.data(), text.size());
    }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void operator()(const std::vector<T>& list) {
        (*this)(uint64_t{list.size()});
        add(list.data(), list.size() * sizeof(T));
    }
    [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    void add(const void* from, size_t bytes) {
        const auto* first = static_cast<const std::byte*>(from);
        bytes_.insert(bytes_.end(), first, first + bytes);
    }

    std::vector<std::byte> bytes_;
};

/// Reads what a byte_writer wrote, from a side that is not trusted: nothing is read beyond the end, and no more is
/// allocated than there is to read.
class byte_reader {
  public:
    explicit byte_reader(std::span<const std::byte> bytes) : left_(bytes) {}

    template <class T>
    requires std::is_trivially_copyable_v<T>
    void operator()(T& value) { take(&value, sizeof value); }
    void operator()(std::string& text) {
        text.resize(count(1));
        take(text.data(), text.size());
    }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void operator()(std::vector<T>& list) {
        list.resize(count(sizeof(T)));
        take(list.data(), list.size() * sizeof(T));
    }
    /// All was there, and nothing more.
    [[nodiscard]] bool is_whole() const { return whole_ && left_.empty(); }

  private:
    size_t count(size_t each) {
        uint64_t n = 0;
        (*this)(n);
        if (n <= left_.size() / each) return static_cast<size_t>(n);
        whole_ = false;
        return 0;
    }
    void take(void* to, size_t bytes) {
        if (bytes > left_.size()) whole_ = false;
        if (!whole_ || bytes == 0) return;
        std::memcpy(to, left_.data(), bytes);
        left_ = left_.subspan(bytes);
    }

    std::span<const std::byte> left_;
    bool whole_ = true;
};

}  // namespace halcyon::insitu
