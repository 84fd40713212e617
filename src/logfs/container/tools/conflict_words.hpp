#pragma once

#include <string>

namespace halcyon::logfs {

/// What people are told of bytes that several writers wrote at times that do not say which was last, with what to do
/// next: a sentence without its end. `amount`: how many that are, such as "2.05 kB". `is_plain`: a plain file was made
/// of the container.
inline std::string conflict_in_words(const std::string& path, const std::string& amount, bool is_plain) {
    const std::string so_that =
        is_plain ? "the file has those of one of them" : "`halcyon log check " + path + "` says where";
    return path + ": " + amount +
           " were written by several writers at times that do not say which was last: " + so_that +
           "; MPI_File_sync of all ranks between such writes puts them in order, and closer clocks of the nodes "
           "(chrony, NTP) do";
}

}  // namespace halcyon::logfs
