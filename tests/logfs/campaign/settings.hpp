#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tested_file.hpp"

namespace halcyon::logfs::campaign {

/// Mixes numbers into one (the end of MurmurHash3 by Appleby, for each).
template <class... Number>
uint64_t mixed(Number... numbers) {
    uint64_t hash = 0;
    const auto mix = [&](uint64_t number) {
        hash = (hash ^ number) * 0xff51afd7ed558ccd + 0x9e3779b97f4a7c15;
        hash ^= hash >> 33;
    };
    (mix(static_cast<uint64_t>(numbers)), ...);
    return hash;
}

/// One container, or one file of a program, and how it is used.
struct round_settings {
    uint64_t seed = 1;       ///< of the round
    std::string path;        ///< of the file
    std::string unseen;      ///< the same, past whoever answers the calls of programs; empty: it is a container's path
    bool is_logged = false;  ///< by calls of programs, else by the container's interface
    bool has_container = true;  ///< else a plain file, of which all this is true as well: but for kills
    bool has_checks = true;     ///< sums over the data, which readers verify
    bool may_map = true;
    bool shares_with_node = false;
    bool kills = false;
    int turns = 10;
    int operations = 500;  ///< of each writer, in a turn

    [[nodiscard]] std::unique_ptr<tested_file> new_file(file_calls& calls = kernel_files()) const {
        if (is_logged) return std::make_unique<descriptor_file>(path, seed % 2 == 0);
        writer_options writing;
        writing.has_data_checks = has_checks;
        writing.may_map_index = may_map;
        writing.shares_with_node = shares_with_node;
        return std::make_unique<container_file>(path, writing, has_checks, calls);
    }
};

}  // namespace halcyon::logfs::campaign
