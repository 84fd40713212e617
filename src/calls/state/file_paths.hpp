#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calls/state/patient_lock.hpp"

namespace halcyon::calls {

/// The paths of files by their ids (known_files.hpp), in bounded memory: the newest 65,536 files, as far as their paths
/// fit into 8 MiB (some 100,000 usual ones). The memory stays: the process' own is asked and filled to the very end.
class file_paths {
  public:
    constexpr file_paths() = default;
    file_paths(const file_paths&) = delete;
    file_paths& operator=(const file_paths&) = delete;

    void keep(uint32_t file, std::string_view path);
    /// Ended by 0. False, and "": it is not known, or does not fit.
    bool path_of(uint32_t file, char* out, size_t room);
    /// In a forked child: what another thread of the parent held when it forked is nobody's now.
    void after_fork() { lock_.after_fork(); }

  private:
    // Paths one after the other, round and round: what is older than a round is overwritten.
    static constexpr size_t text_bytes = size_t{8} << 20;
    static constexpr uint32_t most_files = 65536;
    struct place {
        uint64_t begin;  // bytes written before it, and 1
        uint32_t file;
        uint32_t length;
    };
    struct pages {
        place places[most_files];
        char text[text_bytes];
    };

    patient_lock lock_;  // of whoever looks at the others
    pages* pages_ = nullptr;
    uint64_t written_ = 0;
};

}  // namespace halcyon::calls
