#include "calls/state/known_files.hpp"

#include <linux/magic.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include <atomic>
#include <climits>
#include <new>

#include "calls/backends/backend_files.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/given_memory.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls::known_files {
namespace {

// What is known of a path: its hash tells it apart (64 bits: a false match among 65,536 paths has odds of 1 in 10^10).
// `hash` is written last and read first; a slot that is being replaced is a miss at worst.
struct entry {
    std::atomic<uint64_t> hash;
    std::atomic<uint32_t> id;          // and `on_known_system`, once that was told
    std::atomic<uint32_t> generation;  // of the process that gave the id: a child names its files anew
    std::atomic<uint64_t> places;      // data_places::sum() as layers were told it; 0: where the path says
};

struct table {
    entry entries[capacity];
};

constexpr uint32_t probes = 8;
constexpr uint32_t on_known_system = 1u << 31;

constinit std::atomic<table*> paths{nullptr};
constinit std::atomic<uint32_t> last_id{0};
constinit file_paths kept_paths;

constinit std::atomic<uint32_t> directory_lock{0};
constinit char directory[PATH_MAX] = {};
constinit size_t directory_length = 0;
constinit uint32_t directory_changes = 0;    // `changes` when the kernel was asked
constinit std::atomic<uint32_t> changes{0};  // of the working directory

uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0x9E3779B97F4A7C15u ^ text.size();
    while (!text.empty()) {
        uint64_t word = 0;
        const size_t bytes = text.size() < sizeof word ? text.size() : sizeof word;
        std::memcpy(&word, text.data(), bytes);
        hash = (hash ^ word) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
        text.remove_prefix(bytes);
    }
    return hash == 0 ? 1 : hash;
}

table* known_paths() {
    table* found = paths.load(std::memory_order_acquire);
    if (found != nullptr) [[likely]]
        return found;
    auto* fresh = static_cast<table*>(direct::map_memory(sizeof(table)));
    if (fresh == nullptr) return nullptr;
    if (paths.compare_exchange_strong(found, fresh)) return fresh;
    direct::call(SYS_munmap, direct::address(fresh), sizeof(table));
    return found;
}

bool unwanted(std::string_view path) {
    if (!path.starts_with('/')) return true;  // "socket:[1]", "pipe:[2]", "anon_inode:[eventfd]"
    if (path.starts_with("/dev/shm/")) return false;
    return path.starts_with("/proc/") || path.starts_with("/sys/") || path.starts_with("/dev/") ||
           path.starts_with("/memfd:");
}

// What an entry remembers: the id, marked when the file system could be told.
uint32_t announce(uint32_t id, std::string_view path, int fd) {
    named_file file{id, path, none, 0};
    struct statfs filesystem {};
    const bool known = fd >= 0 && direct::fstatfs(fd, &filesystem) == 0;
    if (known) {
        file.block_bytes = filesystem.f_bsize;
        file.filesystem = static_cast<uint64_t>(filesystem.f_type);
    }
    if (this_process().paths) kept_paths.keep(id, path);
    this_process().layers.each([&](layer& l) { l.on_file(file); });
    return known ? id | on_known_system : id;
}

// What who names a file knows of where its bytes lie.
struct whereabouts {
    bool are_known = false;                  // else nobody has looked, or nobody wants to know
    const data_places* elsewhere = nullptr;  // null: where the path says

    [[nodiscard]] uint64_t sum() const { return elsewhere == nullptr ? 0 : elsewhere->sum(); }
};

[[gnu::noinline]] void tell_places(uint32_t id, std::string_view path, const whereabouts& of) {
    const named_file file{id, path, none, 0};
    const data_places where_the_path_says{};
    const data_places& places = of.elsewhere == nullptr ? where_the_path_says : *of.elsewhere;
    this_process().layers.each([&](layer& l) { l.on_places(file, places); });
}

uint32_t next_id() {
    return last_id.fetch_add(1) + 1;
}

// A path that was named before anyone opened it (stat, unlink) is told again once it is open. One path may be a
// backend's file and one of the kernel's in turn: layers hear when that has changed.
uint32_t of_entry(entry& found, std::string_view path, int fd, const whereabouts& bytes) {
    uint32_t held = found.id.load(std::memory_order_relaxed);
    const uint32_t id = held & ~on_known_system;
    const bool is_told_again = held == id && fd >= 0;
    // Another thread may have given the slot to another path meanwhile.
    if (is_told_again) found.id.compare_exchange_strong(held, announce(id, path, fd));
    if (!bytes.are_known) return id;
    const uint64_t sum = bytes.sum();
    const bool has_changed = found.places.exchange(sum, std::memory_order_relaxed) != sum;
    if (has_changed || (is_told_again && sum != 0)) tell_places(id, path, bytes);
    return id;
}

uint32_t id_of(std::string_view path, int fd, const whereabouts& bytes = {}) {
    table* known = known_paths();
    if (known == nullptr) {
        const uint32_t id = announce(next_id(), path, fd) & ~on_known_system;
        if (bytes.sum() != 0) tell_places(id, path, bytes);
        return id;
    }
    const uint64_t hash = hash_of(path);
    const uint32_t generation = this_process().generation;
    entry* free = nullptr;
    for (uint32_t probe = 0; probe < probes; ++probe) {
        entry& candidate = known->entries[(hash + probe) % capacity];
        const uint64_t held = candidate.hash.load(std::memory_order_acquire);
        const bool ours = candidate.generation.load(std::memory_order_relaxed) == generation;
        if (held == hash && ours) return of_entry(candidate, path, fd, bytes);
        if (free == nullptr && (held == 0 || !ours)) free = &candidate;
    }
    if (free == nullptr) free = &known->entries[(hash + hash / capacity % probes) % capacity];
    const uint32_t id = announce(next_id(), path, fd);
    free->hash.store(0, std::memory_order_relaxed);
    free->id.store(id, std::memory_order_relaxed);
    free->places.store(bytes.sum(), std::memory_order_relaxed);
    free->generation.store(generation, std::memory_order_relaxed);
    free->hash.store(hash, std::memory_order_release);
    if (bytes.sum() != 0) tell_places(id & ~on_known_system, path, bytes);
    return id & ~on_known_system;
}

// Takes out "//" and "/./" and a slash at the end, in place, as the kernel's names of descriptors have none; the new
// length. A ".." stays: what it means depends on links.
size_t without_detours(char* path, size_t length) {
    size_t kept = 0;
    for (size_t i = 0; i < length; ++i) {
        const bool ends = i + 1 == length;
        if (path[i] == '/' && ((ends && kept > 0) || (!ends && path[i + 1] == '/'))) continue;
        if (path[i] == '/' && path[i + 1] == '.' && !ends && (i + 2 == length || path[i + 2] == '/')) {
            ++i;
            continue;
        }
        path[kept++] = path[i];
    }
    if (kept == 0) path[kept++] = '/';
    return kept;
}

// The kernel marks names of files that have none any more; a file may also be called so.
size_t without_mark_of_deletion(int fd, const char* path, size_t length) {
    constexpr std::string_view mark = " (deleted)";
    if (!std::string_view(path, length).ends_with(mark)) return length;
    struct stat file {};
    const bool deleted = direct::call(SYS_fstat, fd, direct::address(&file)) == 0 && file.st_nlink == 0;
    return deleted ? length - mark.size() : length;
}

bool is_of_kernel(int fd) {
    struct statfs filesystem {};
    if (direct::fstatfs(fd, &filesystem) != 0) return false;
    const auto type = static_cast<uint32_t>(filesystem.f_type);
    return type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC;
}

// A name for what the kernel tells none of; 0: it cannot be asked, or there is no room.
size_t name_by_inode(int fd, char* out, size_t room) {
    struct stat file {};
    if (direct::call(SYS_fstat, fd, direct::address(&file)) != 0) return 0;
    const int length = snprintf(out, room, "/(no name: device %u:%u, inode %llu)", gnu_dev_major(file.st_dev),
                                gnu_dev_minor(file.st_dev), static_cast<unsigned long long>(file.st_ino));
    return length > 0 && static_cast<size_t>(length) < room ? static_cast<size_t>(length) : 0;
}

size_t name_of_directory(int fd, char* out, size_t room) {
    const size_t length = direct::path_of(fd, out, room);
    return length > 0 ? length : name_by_inode(fd, out, room);
}

// Of a directory that the root does not lead to, getcwd gives "(unreachable)/its/path".
size_t without_mark_of_unreachable(char* path, size_t length) {
    const auto* begins = static_cast<const char*>(std::memchr(path, '/', length));
    if (begins == nullptr) return 0;
    const size_t kept = length - static_cast<size_t>(begins - path);
    std::memmove(path, begins, kept);
    return kept;
}

// Puts the working directory before a relative path. The kernel's answer is kept until the process changes it.
bool prepend_working_directory(char* out, size_t room, size_t& length) {
    if (directory_lock.exchange(1, std::memory_order_acquire) != 0) {
        const long bytes = direct::call(SYS_getcwd, direct::address(out), static_cast<long>(room));
        length = bytes > 0          ? without_mark_of_unreachable(out, static_cast<size_t>(bytes - 1))
                 : bytes == -ERANGE ? room
                                    : 0;
        return length > 0;
    }
    if (const uint32_t now = changes.load(std::memory_order_acquire);
        directory_length == 0 || directory_changes != now) {
        directory_changes = now;
        const long bytes = direct::call(SYS_getcwd, direct::address(directory), sizeof directory);
        directory_length = bytes > 0 ? without_mark_of_unreachable(directory, static_cast<size_t>(bytes - 1)) : 0;
    }
    length = directory_length;
    if (length < room) std::memcpy(out, directory, length);
    directory_lock.store(0, std::memory_order_release);
    return length > 0;
}

}  // namespace

namespace {

// Most paths are short, and stacks may be small: the room for the longest is taken only where it is needed.
constexpr size_t usual_path = 512;

template <size_t room>
[[gnu::noinline]] uint32_t of_path_within(int relative_to, const char* path, size_t bytes, int fd) {
    char whole[room + usual_path];
    size_t length = 0;
    if (*path != '/') {
        const bool found = relative_to == AT_FDCWD ? prepend_working_directory(whole, room, length)
                                                   : (length = name_of_directory(relative_to, whole, room)) > 0;
        if (!found) return unknown;
        // As long as the room: perhaps it was cut.
        if (room < PATH_MAX && length + bytes + 2 >= room)
            return of_path_within<2 * PATH_MAX>(relative_to, path, bytes, fd);
        whole[length++] = '/';
    }
    std::memcpy(whole + length, path, bytes);
    const std::string_view complete(whole, without_detours(whole, length + bytes));
    return unwanted(complete) ? ignored : id_of(complete, fd);
}

// `fd`: the file that the path leads to, where that is open.
uint32_t of_given_path(int relative_to, const char* path, int fd) {
    const size_t bytes = given::length_of_text(path, PATH_MAX);
    if (bytes == given::unreadable || bytes == 0) return unknown;
    return bytes + 2 < usual_path ? of_path_within<usual_path>(relative_to, path, bytes, fd)
                                  : of_path_within<2 * PATH_MAX>(relative_to, path, bytes, fd);
}

[[gnu::noinline]] uint32_t of_nameless(int fd, int opened_in, const char* opened_by) {
    struct stat file {};
    if (direct::call(SYS_fstat, fd, direct::address(&file)) != 0) return unknown;
    if ((!S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode)) || is_of_kernel(fd)) return ignored;
    if (opened_by != nullptr && *opened_by != '\0') return of_given_path(opened_in, opened_by, fd);
    char name[96];
    const size_t length = name_by_inode(fd, name, sizeof name);
    return length == 0 ? unknown : id_of({name, length}, fd);
}

// In pages of its own: a handler of a signal, whose stack may be small, may be the first to use a file.
class owned_file_facts {
  public:
    owned_file_facts() : all_(static_cast<facts*>(direct::map_memory(sizeof(facts)))) {
        if (all_ != nullptr) new (&all_->places) data_places;
    }
    ~owned_file_facts() {
        if (all_ != nullptr) direct::call(SYS_munmap, direct::address(all_), sizeof(facts));
    }
    owned_file_facts(const owned_file_facts&) = delete;
    owned_file_facts& operator=(const owned_file_facts&) = delete;

    // `fd`: -1, none.
    uint32_t name(const backends::owned_file& file, int fd) {
        const size_t length = all_ == nullptr ? 0 : backends::path_of(file, all_->path, sizeof all_->path);
        if (length == 0) return unknown;
        const std::string_view path(all_->path, length);
        if (!this_process().places) return id_of(path, fd);
        file.backend().say_places(file.opened(), all_->places);
        return id_of(path, fd, {true, &all_->places});
    }

  private:
    struct facts {
        char path[2 * PATH_MAX];
        data_places places;
    };
    facts* const all_;
};

[[gnu::noinline]] uint32_t of_placeholder(int fd) {
    const backends::owned_file file = backends::owner_of(fd);
    return file ? owned_file_facts().name(file, fd) : unknown;
}

// What the kernel answers for lies where it is. A path that was opened may be a backend's all the same.
enum class opening : uint8_t { of_descriptor, of_path };

template <size_t room, opening how = opening::of_descriptor>
[[gnu::noinline]] uint32_t of_descriptor_within(int fd, int opened_in, const char* opened_by) {
    char path[room];
    const size_t length = direct::path_of(fd, path, room);
    if (length == 0) return of_nameless(fd, opened_in, opened_by);
    if (room < PATH_MAX && length + 1 >= room) return of_descriptor_within<PATH_MAX, how>(fd, opened_in, opened_by);
    if (backends::is_placeholder(fd, {path, length})) [[unlikely]]
        return of_placeholder(fd);
    const std::string_view found(path, without_mark_of_deletion(fd, path, length));
    const whereabouts bytes{how == opening::of_descriptor && this_process().places};
    return unwanted(found) ? ignored : id_of(found, fd, bytes);
}

}  // namespace

uint32_t of_path(int relative_to, const char* path) {
    if (path == nullptr) return unknown;
    const own_work ours;
    return of_given_path(relative_to, path, -1);
}

uint32_t of_opened_path(const char* path) {
    uint32_t id = unknown;
    const int fd = direct::open(path, O_PATH | O_CLOEXEC);
    if (fd >= 0) {
        const own_work ours;
        id = of_descriptor_within<usual_path, opening::of_path>(fd, AT_FDCWD, path);
        direct::close(fd);
    }
    return id == unknown ? of_path(AT_FDCWD, path) : id;
}

uint32_t of_descriptor(int fd, int directory, const char* opened_by) {
    const own_work ours;
    return of_descriptor_within<usual_path>(fd, directory, opened_by);
}

void placed_anew(const backends::owned_file& file) {
    const own_work ours;
    owned_file_facts().name(file, -1);
}

file_paths& paths() {
    return kept_paths;
}

void after_fork() {
    kept_paths.after_fork();
    directory_length = 0;
    directory_lock.store(0);
}

void forget_directory() {
    changes.fetch_add(1, std::memory_order_release);  // no lock: whoever holds it may not be waited for
}

}  // namespace halcyon::calls::known_files
