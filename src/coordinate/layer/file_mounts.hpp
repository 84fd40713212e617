#pragma once

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calls/state/direct_call.hpp"
#include "coordinate/page/mount_of.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// Which coordinated file system a file lies in, by the file's id. Holds the newest 131,072 files; older ones, of a
/// program that uses more at a time, are found nowhere.
class file_mounts {
  public:
    static constexpr size_t nowhere = no_mount;

    /// False: there is no memory.
    bool start(const page& shared) {
        shared_ = &shared;
        if (table_ == nullptr) table_ = static_cast<table*>(calls::direct::map_memory(sizeof(table)));
        return table_ != nullptr;
    }

    /// Any thread: entries are single words. Pipes, sockets and terminals lie nowhere: what goes through them takes
    /// none of the storage, and whoever is at the other end may be waiting for the turn.
    void name(uint32_t file, std::string_view path) {
        const size_t at = mount_of(path);
        lies(file, at != nowhere && is_stored(path) ? at : nowhere);
    }
    /// A pipe or the like was made there just now.
    void leave_out(uint32_t file) { lies(file, nowhere); }

    /// By the mode of a file. Of the devices, those of blocks are storage.
    static bool is_stored_kind(mode_t mode) { return !S_ISFIFO(mode) && !S_ISSOCK(mode) && !S_ISCHR(mode); }

    [[nodiscard]] size_t find(uint32_t file) const {
        const uint32_t entry = table_->entries[file % capacity].load(std::memory_order_relaxed);
        // One comparison: the entry of a file that lies nowhere has 0 in its lower bits.
        const uint32_t found = entry - tag_of(file);
        return found - 1 < process_slot::most_file_systems ? found - 1 : nowhere;
    }

    [[nodiscard]] size_t mount_of(std::string_view path) const { return coordinate::mount_of(*shared_, path); }

  private:
    void lies(uint32_t file, size_t at) {
        table_->entries[file % capacity].store(tag_of(file) | static_cast<uint32_t>(at + 1), std::memory_order_relaxed);
    }
    /// Also what is not there yet, and what lost its name.
    static bool is_stored(std::string_view path) {
        char name[PATH_MAX];
        if (path.size() >= sizeof name) return true;
        name[path.copy(name, path.size())] = '\0';
        struct stat found {};
        const long failed = calls::direct::call(SYS_newfstatat, AT_FDCWD, calls::direct::address(name),
                                                calls::direct::address(&found), 0);
        return failed != 0 || is_stored_kind(found.st_mode);
    }

    static constexpr uint32_t capacity = 1U << 17U;
    static constexpr uint32_t tag_of(uint32_t file) { return file / capacity << 8U; }
    struct table {
        std::byte apart[21 * 64];  // as in calls::descriptors::table: most programs use few files
        std::atomic<uint32_t> entries[capacity];
    };

    const page* shared_ = nullptr;
    table* table_ = nullptr;
};

}  // namespace halcyon::coordinate
