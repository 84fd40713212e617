#pragma once

#include <cstdint>
#include <string_view>

namespace halcyon {

/// The hash FNV-1a of 64 bits: the same in each program and run. Safe within applications.
class fnv1a {
  public:
    explicit constexpr fnv1a(uint64_t seed = 0) : value_(0xcbf29ce484222325 ^ seed) {}

    constexpr void add(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
    constexpr void add(std::string_view text) {
        for (const char c : text) add(static_cast<unsigned char>(c));
    }
    [[nodiscard]] constexpr uint64_t value() const { return value_; }

  private:
    uint64_t value_;
};

}  // namespace halcyon
