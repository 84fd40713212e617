#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace halcyon::logfs {

/// The text of the file that makes a directory a container; its mode and owner are the logical file's. PLFS knows its
/// containers by a file of another name, so it takes none of ours for its own.
struct marker {
    uint32_t version = 1;
    uint32_t host_directories = 32;
    uint64_t id = 0;

    static constexpr size_t room = 256;

    /// The number of characters.
    size_t write(std::span<char, room> out) const;

    /// Whether this is, or was before it was damaged, the text of a marker of any version.
    [[nodiscard]] static bool begins(std::string_view text);

    enum class reading : uint8_t { whole, damaged, other_version };
    /// Of a text of another version only `version` is set.
    static reading read(std::string_view text, marker& out);
};

}  // namespace halcyon::logfs
