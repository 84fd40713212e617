#pragma once

#include <cstddef>
#include <cstdint>

/// Numbers in seven bits a byte, the lowest first; the highest bit says that another byte follows.
namespace halcyon::logfs {

inline constexpr size_t longest_varint = 10;

inline std::byte* put_varint(std::byte* out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *out++ = static_cast<std::byte>(value | 0x80);
    *out++ = static_cast<std::byte>(value);
    return out;
}

/// Small ones of either sign take few bytes.
inline uint64_t folded(int64_t value) {
    return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unfolded(uint64_t value) {
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

/// Takes numbers from bytes that may be wrong: after the first that is not whole, all are 0 and failed() is true.
class varint_source {
  public:
    varint_source(const std::byte* begin, const std::byte* end) : at_(begin), end_(end) {}

    uint64_t next() {
        uint64_t value = 0;
        for (unsigned shift = 0; at_ < end_ && shift < 64; shift += 7) {
            const auto byte = static_cast<uint64_t>(*at_++);
            if (shift == 63 && byte > 1) break;
            value |= (byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        return fail();
    }
    int64_t next_folded() { return unfolded(next()); }
    uint8_t next_byte() { return at_ < end_ ? static_cast<uint8_t>(*at_++) : static_cast<uint8_t>(fail()); }
    /// Four bytes, the lowest first.
    uint32_t next_word() {
        uint32_t word = 0;
        for (unsigned shift = 0; shift < 32; shift += 8) word |= uint32_t{next_byte()} << shift;
        return word;
    }

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] const std::byte* at() const { return at_; }

  private:
    uint64_t fail() {
        failed_ = true;
        at_ = end_;
        return 0;
    }

    const std::byte* at_;
    const std::byte* end_;
    bool failed_ = false;
};

inline std::byte* put_word(std::byte* out, uint32_t word) {
    for (unsigned shift = 0; shift < 32; shift += 8) *out++ = static_cast<std::byte>(word >> shift);
    return out;
}

}  // namespace halcyon::logfs
