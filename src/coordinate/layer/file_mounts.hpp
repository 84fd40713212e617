#pragma once

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calls/record/data_places.hpp"
#include "calls/state/direct_call.hpp"
#include "coordinate/layer/call_roles.hpp"
#include "coordinate/page/mount_of.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// To which coordinated file systems calls on a file lead, by the file's id. Holds the newest 131,072 files; older
/// ones, of a program that uses more at a time, are found nowhere.
class file_mounts {
  public:
    static constexpr size_t nowhere = no_mount;

    /// What look() returns of a file whose calls lead to different file systems: find() says which.
    static constexpr size_t differs = process_slot::most_file_systems;

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
        lie(file, at != nowhere && is_stored(path) ? static_cast<uint32_t>(at) + 1 : 0);
    }
    /// The bytes of a file with this path lie elsewhere.
    void place(uint32_t file, std::string_view path, const calls::data_places& places) {
        using calls::data_places;
        const size_t of_names = mount_of(path);
        uint32_t reads = 0, writes = 0, syncs = 0;
        places.each([&](std::string_view directory, unsigned uses) {
            const size_t at = mount_of(directory);
            if (at == nowhere) return;
            if ((uses & data_places::reads) != 0) reads |= 1U << at;
            if ((uses & data_places::writes) != 0) writes |= 1U << at;
            if ((uses & data_places::syncs) != 0) syncs |= 1U << at;
        });
        const uint64_t all = packed(file_use::name, of_names == nowhere ? 0 : 1U << of_names) |
                             packed(file_use::read, reads) | packed(file_use::write, writes) |
                             packed(file_use::sync, syncs);
        table_->by_use[file % capacity].store(all, std::memory_order_release);
        lie(file, differs + 1);
    }
    /// A pipe or the like was made there just now.
    void leave_out(uint32_t file) { lie(file, 0); }

    /// By the mode of a file. Of the devices, those of blocks are storage.
    static bool is_stored_kind(mode_t mode) { return !S_ISFIFO(mode) && !S_ISSOCK(mode) && !S_ISCHR(mode); }

    /// The file system's number; differs; nowhere.
    [[nodiscard]] size_t look(uint32_t file) const {
        const uint32_t entry = table_->entries[file % capacity].load(std::memory_order_relaxed);
        // One comparison: the entry of a file that lies nowhere has 0 in its lower bits.
        const uint32_t found = entry - tag_of(file) - 1;
        return found <= differs ? found : nowhere;
    }
    /// Of one file system its number; several: all_of() says which; nowhere.
    [[nodiscard]] size_t find(uint32_t file, file_use what) const {
        const size_t found = look(file);
        if (found != differs) [[likely]]
            return found;
        const uint64_t all = table_->by_use[file % capacity].load(std::memory_order_acquire);
        const size_t answer = all >> shift_of(what) & answer_mask;
        return answer == 0 ? nowhere : answer - 1;
    }
    [[nodiscard]] static bool is_one(size_t found) { return found < process_slot::most_file_systems; }
    /// A bit for each file system of what find() returned.
    [[nodiscard]] static uint32_t all_of(size_t found) {
        if (found == nowhere) return 0;
        return is_one(found) ? 1U << found : static_cast<uint32_t>(found) - several;
    }
    /// Whether bytes of the file move at the file system when it is read or written.
    [[nodiscard]] bool moves_at(uint32_t file, size_t file_system) const {
        return ((all_of(find(file, file_use::write)) | all_of(find(file, file_use::read))) >> file_system & 1U) != 0;
    }

    [[nodiscard]] size_t mount_of(std::string_view path) const { return coordinate::mount_of(*shared_, path); }

  private:
    static constexpr uint32_t several = differs + 1;
    static constexpr uint64_t answer_mask = 0xffff;
    static_assert(several + (1U << process_slot::most_file_systems) < answer_mask);

    void lie(uint32_t file, uint32_t answer) {
        table_->entries[file % capacity].store(tag_of(file) | answer, std::memory_order_release);
    }
    static constexpr unsigned shift_of(file_use what) { return 16U * static_cast<unsigned>(what); }
    /// What find() returns, and 1; a bit for each file system.
    static uint64_t packed(file_use what, uint32_t file_systems) {
        uint64_t answer = 0;
        if (std::has_single_bit(file_systems))
            answer = static_cast<uint64_t>(std::countr_zero(file_systems)) + 1;
        else if (file_systems != 0)
            answer = several + file_systems + 1;
        return answer << shift_of(what);
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
        std::atomic<uint64_t> by_use[capacity];  ///< of a file that differs; 16 bits each
    };

    const page* shared_ = nullptr;
    table* table_ = nullptr;
};

}  // namespace halcyon::coordinate
