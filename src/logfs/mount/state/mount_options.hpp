#pragma once

#include <cstdint>
#include <string>

namespace halcyon::logfs {

/// What a mount shows, and how.
struct mount_options {
    std::string backend;                   ///< a directory with containers in it, or below it
    std::string mount_point;               ///< may be the same
    bool new_files_are_containers = true;  ///< else plain ones
    bool is_for_all_users = false;         ///< where the system lets this user decide that
    bool is_read_only = false;
    bool shows_extended_attributes = false;  ///< then each write is one request more
    bool has_data_checks = false;            ///< sums over the data, too (writer_options)
    bool stays_in_foreground = false;
    unsigned threads = 10;  ///< that answer requests, at most
    std::string log_file;   ///< empty: standard error in the foreground, else the system's log
};

}  // namespace halcyon::logfs
