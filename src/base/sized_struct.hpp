#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/error.hpp"

namespace halcyon {

/// A struct of the C interface that grows from release to release, and that the library fills in. Its first member,
/// size_bytes, says how much of the struct the caller was compiled with.
template <class Struct>
constexpr bool begins_with_its_size() {
    static_assert(std::is_trivially_copyable_v<Struct> && std::is_standard_layout_v<Struct>);
    return offsetof(Struct, size_bytes) == 0 && std::is_same_v<decltype(Struct::size_bytes), uint64_t>;
}
template <class Struct>
concept sized_struct = begins_with_its_size<Struct>();

/// Usage error: size_bytes was not set. The first `own_bytes` of the struct are the caller's, the library fills the
/// rest.
template <sized_struct Struct>
result<void> check_size(const char* call, const char* struct_name, const Struct& into, size_t own_bytes) {
    // Larger than any release will have: a struct that was never set.
    constexpr uint64_t most_bytes = 1 << 16;
    if (into.size_bytes > own_bytes && into.size_bytes <= most_bytes) return {};
    return failure{error_kind::usage,
                   std::string(call) + ": size_bytes of the " + struct_name + " is " + std::to_string(into.size_bytes) +
                       "; set it to sizeof(" + struct_name + "), here " + std::to_string(sizeof into),
                   0};
}

/// A caller built against a release that knew fewer members gets those; one that knew more keeps what it had there, and
/// reads in size_bytes how far the struct is filled in.
template <sized_struct Struct>
void give(const Struct& filled, Struct& to, size_t own_bytes) {
    to.size_bytes = std::min<uint64_t>(to.size_bytes, sizeof filled);
    std::memcpy(reinterpret_cast<char*>(&to) + own_bytes, reinterpret_cast<const char*>(&filled) + own_bytes,
                to.size_bytes - own_bytes);
}

}  // namespace halcyon
