#include "calls/backends/backend_files.hpp"

#include <linux/memfd.h>
#include <sys/mman.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "calls/record/call_record.hpp"
#include "calls/state/blocked_signals.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/given_memory.hpp"

namespace halcyon::calls::backends {

constinit presence_page this_presence{};

namespace {

struct mount_point {
    file_backend* of;
    size_t length;
    char prefix[PATH_MAX];
};
constinit mount_point mounts[most_mounts] = {};
constinit int mount_count = 0;
constinit bool started = false;  // outlives fork

// Descriptors that are not looked at yet are 0; the kernel's files are `of_kernel`; others are an index into
// `open_files`, plus `first_file`. Written by whoever opens, duplicates or closes a descriptor, whose number is nobody
// else's at that moment; an entry of open_files is given back by whoever takes its references to 0.
constexpr int capacity = 65536;
constexpr uint32_t of_kernel = 1;
constexpr uint32_t first_file = 2;
constinit std::atomic<uint32_t> owners[capacity] = {};

struct open_entry {
    std::atomic<uint32_t> references;  // descriptors; 0: free
    std::atomic<int> flags;
    file_backend* of;
    file_backend::handle opened;
};
constexpr uint32_t most_open = 16384;
constinit open_entry open_files[most_open] = {};
constinit std::atomic<uint32_t> next_free{0};

/// The entry has one reference; null: there is no room.
open_entry* fresh_entry() {
    for (uint32_t tries = 0; tries < most_open; ++tries) {
        open_entry& entry = open_files[next_free.fetch_add(1, std::memory_order_relaxed) % most_open];
        uint32_t free = 0;
        if (entry.references.compare_exchange_strong(free, 1, std::memory_order_acquire)) return &entry;
    }
    return nullptr;
}

uint32_t number_of(const open_entry& entry) {
    return static_cast<uint32_t>(&entry - open_files) + first_file;
}

void release(uint32_t owner) {
    if (owner < first_file) return;
    open_entry& entry = open_files[owner - first_file];
    file_backend* const of = entry.of;
    const file_backend::handle opened = entry.opened;
    if (entry.references.fetch_sub(1, std::memory_order_acq_rel) == 1) of->close(opened);
}

/// A child of vfork lives in its parent's memory: what it does to its descriptors is not done to the parent's.
bool shares_memory_with_parent() {
    thread_state& thread = this_thread_state;
    if ((thread.inside & vforked) == 0) return false;
    if (!is_own_process()) return true;
    thread.inside &= ~vforked;
    return false;
}

bool is_in_range(int fd) {
    return fd >= 0 && fd < capacity;
}

// The name of a placeholder: "halcyon:<backend>:<key>:<flags>", both numbers in 16 digits of base 16.
constexpr std::string_view mark = "/memfd:halcyon:";
constexpr size_t longest_name = 80;

char* put_number(char* out, uint64_t number) {
    for (int shift = 60; shift >= 0; shift -= 4) *out++ = "0123456789abcdef"[number >> shift & 15];
    return out;
}

bool take_number(std::string_view& text, uint64_t& number) {
    if (text.size() < 17 || text[0] != ':') return false;
    number = 0;
    for (int i = 1; i <= 16; ++i) {
        const char digit = text[static_cast<size_t>(i)];
        const int value = digit >= '0' && digit <= '9'   ? digit - '0'
                          : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                                         : -1;
        if (value < 0) return false;
        number = number << 4 | static_cast<uint64_t>(value);
    }
    text.remove_prefix(17);
    return true;
}

/// Asks the kernel what `fd` is. Not of a backend, or not of one that this process has: none.
owned_file look_at(int fd, bool is_borrowed) {
    char name[longest_name + 40];
    const size_t length = direct::path_of(fd, name, sizeof name);
    std::string_view rest(name, length);
    if (!rest.starts_with(mark)) return {};
    rest.remove_prefix(mark.size());
    const size_t end = rest.find(':');
    if (end == std::string_view::npos) return {};
    const std::string_view backend = rest.substr(0, end);
    rest.remove_prefix(end);
    uint64_t key = 0;
    uint64_t flags = 0;
    if (!take_number(rest, key) || !take_number(rest, flags)) return {};
    for (int i = 0; i < mount_count; ++i) {
        file_backend& of = *mounts[i].of;
        file_backend::handle opened = 0;
        if (backend != of.name() || of.adopt(key, opened) != 0) continue;
        const int status = direct::flags_of(fd);
        const int all = static_cast<int>(flags & O_ACCMODE) | (status > 0 ? status & O_APPEND : 0);
        return {&of, opened, all, is_borrowed};
    }
    return {};
}

/// As memfd_create(2), sealed, and then opened for writing only.
int make_placeholder(const char* name, int flags) {
    const bool closes = (flags & O_CLOEXEC) != 0;
    const auto made = static_cast<int>(
        direct::call(SYS_memfd_create, direct::address(name), MFD_ALLOW_SEALING | (closes ? MFD_CLOEXEC : 0U)));
    if (made < 0) return made;
    direct::call(SYS_fcntl, made, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    char link[32] = "/proc/self/fd/";
    char digits[12];
    int count = 0;
    for (int left = made; left > 0 || count == 0; left /= 10) digits[count++] = static_cast<char>('0' + left % 10);
    char* end = link + 14;
    while (count > 0) *end++ = digits[--count];
    *end = '\0';
    const int again = direct::open(link, O_WRONLY | (flags & (O_APPEND | O_NONBLOCK | O_CLOEXEC)));
    if (again < 0) return made;  // without /proc it stays as it is: still empty, still sealed
    direct::call(SYS_dup3, again, made, closes ? O_CLOEXEC : 0);
    direct::close(again);
    return made;
}

/// Without ".", "..", "//" and a slash at the end, in place; the new length. Text alone: symbolic links are not known.
size_t simplified(char* path, size_t length) {
    size_t kept = 0;
    for (size_t i = 0; i < length;) {
        while (i < length && path[i] == '/') ++i;
        size_t end = i;
        while (end < length && path[end] != '/') ++end;
        const std::string_view part(path + i, end - i);
        if (part == "..") {
            while (kept > 0 && path[--kept] != '/') {
            }
        } else if (!part.empty() && part != ".") {
            path[kept++] = '/';
            std::memmove(path + kept, part.data(), part.size());
            kept += part.size();
        }
        i = end;
    }
    if (kept == 0) path[kept++] = '/';
    path[kept] = '\0';
    return kept;
}

/// What leads out of a mount to where nobody can ask for it.
class no_backend final : public file_backend {
  public:
    [[nodiscard]] const char* name() const override { return "none"; }
    int open(const char*, int, unsigned, handle&) override { return -EXDEV; }
    int adopt(uint64_t, handle&) override { return -EXDEV; }
    [[nodiscard]] uint64_t key_of(handle) override { return 0; }
    void close(handle) override {}
    ssize_t path_of(handle, char*, size_t) override { return -EXDEV; }
    ssize_t read(handle, const iovec*, int, int64_t) override { return -EXDEV; }
    ssize_t write(handle, const iovec*, int, int64_t) override { return -EXDEV; }
    ssize_t append(handle, const iovec*, int, int64_t&) override { return -EXDEV; }
    int stat(handle, struct stat&) override { return -EXDEV; }
    int resize(handle, int64_t) override { return -EXDEV; }
    int sync(handle, bool) override { return -EXDEV; }
    int stat_path(const char*, bool, struct stat&) override { return -EXDEV; }
    int unlink(const char*) override { return -EXDEV; }
    int rename(const char*, const char*, unsigned) override { return -EXDEV; }
    int make_directory(const char*, unsigned) override { return -EXDEV; }
    int remove_directory(const char*) override { return -EXDEV; }
    int set_mode(const char*, unsigned) override { return -EXDEV; }
    int set_mode(handle, unsigned) override { return -EXDEV; }
    int set_owner(const char*, uid_t, gid_t) override { return -EXDEV; }
    int set_owner(handle, uid_t, gid_t) override { return -EXDEV; }
    int set_times(const char*, const timespec[2]) override { return -EXDEV; }
    int set_times(handle, const timespec[2]) override { return -EXDEV; }
    int stat_system(struct statfs&) override { return -EXDEV; }
    int next_entry(handle, uint64_t&, entry&) override { return -EXDEV; }
};
constinit no_backend nowhere;

/// The working directory, as an entry of an environment, where it lies under a mount. The kernel's is the mount's
/// prefix then.
struct directory_entry {
    int process;
    size_t length;  // of the path; 0: it is the kernel's
    char entry[sizeof working_directory_variable + PATH_MAX];

    [[nodiscard]] char* text() { return entry + sizeof working_directory_variable; }
    [[nodiscard]] const char* text() const { return entry + sizeof working_directory_variable; }
};
constinit directory_entry of_process{0, 0, "HALCYON_WORKING_DIRECTORY="};
constinit directory_entry of_child{0, 0,
                                   "HALCYON_WORKING_DIRECTORY="};  // of a child of vfork, which its parent waits for

const directory_entry& directory_of_this_process() {
    return shares_memory_with_parent() && of_child.process == direct::process_id() ? of_child : of_process;
}

void inherit_working_directory(const char* path) {
    char here[PATH_MAX];
    const long got = direct::call(SYS_getcwd, direct::address(here), sizeof here);
    for (int i = 0; i < mount_count && path != nullptr && got > 1; ++i) {
        const mount_point& at = mounts[i];
        const size_t length = std::strlen(path);
        if (std::strcmp(here, at.prefix) != 0 || length >= PATH_MAX || !std::string_view(path).starts_with(at.prefix))
            continue;
        std::memcpy(of_process.text(), path, length + 1);
        of_process.length = length;
    }
}

}  // namespace

bool mount(file_backend& backend, std::string_view prefix) {
    if (mount_count == most_mounts || prefix.size() < 2 || prefix[0] != '/' || prefix.size() >= PATH_MAX) return false;
    mount_point& added = mounts[mount_count];
    std::memcpy(added.prefix, prefix.data(), prefix.size());
    added.length = simplified(added.prefix, prefix.size());
    added.of = &backend;
    if (added.length < 2) return false;
    ++mount_count;
    return true;
}

bool ask_presence() {
    static constinit std::atomic<int> starter{0};
    const int own = direct::thread_id();
    // Whoever comes while it is decided, a handler of a signal in this very thread too, goes to the kernel.
    int nobody = 0;
    if (!starter.compare_exchange_strong(nobody, own)) return false;
    const blocked_signals whole;
    if (started) {  // in a child of fork
        for (int i = 0; i < mount_count; ++i) mounts[i].of->after_fork();
    } else {
        if (!can_start_layers()) {
            starter.store(0);
            return false;
        }
        start_backends();
        started = true;
        inherit_working_directory(getenv(working_directory_variable));
    }
    const bool some = mount_count > 0;
    if (some) direct::call(SYS_madvise, direct::address(&this_presence), sizeof this_presence, MADV_WIPEONFORK);
    this_presence.now.store(some ? presence::some : presence::none, std::memory_order_release);
    starter.store(0);
    return some;
}

owned_file owner_of(int fd) {
    if (fd < 0) return {};
    if (!is_in_range(fd) || shares_memory_with_parent()) [[unlikely]]
        return look_at(fd, true);
    const uint32_t owner = owners[fd].load(std::memory_order_acquire);
    if (owner == of_kernel) return {};
    if (owner >= first_file) [[likely]] {
        const open_entry& entry = open_files[owner - first_file];
        return {entry.of, entry.opened, entry.flags.load(std::memory_order_relaxed), false};
    }
    if (direct::flags_of(fd) < 0) return {};  // none: it may become anything
    owned_file found = look_at(fd, false);
    uint32_t now = of_kernel;
    if (found) {
        open_entry* const entry = fresh_entry();
        if (entry == nullptr) return found;
        entry->of = &found.backend();
        entry->opened = found.opened();
        entry->flags = found.access() | (found.appends() ? O_APPEND : 0);
        now = number_of(*entry);
    }
    uint32_t unknown = 0;
    if (!owners[fd].compare_exchange_strong(unknown, now)) {
        release(now);  // another thread was first
        return owner_of(fd);
    }
    return found;
}

int opened_as(file_backend& backend, file_backend::handle opened, int flags) {
    char name[longest_name] = "halcyon:";
    char* end = stpcpy(name + 8, backend.name());
    *end++ = ':';
    end = put_number(end, backend.key_of(opened));
    *end++ = ':';
    end = put_number(end, static_cast<uint64_t>(flags & O_ACCMODE));
    *end = '\0';
    const bool noted = !shares_memory_with_parent();
    open_entry* const entry = noted ? fresh_entry() : nullptr;
    const int fd = noted && entry == nullptr ? -ENFILE : make_placeholder(name, flags);
    if (fd < 0 || !noted) {
        // Of a child of vfork: each of its calls adopts the file anew, for as long as the key holds it.
        if (entry != nullptr) entry->references.store(0, std::memory_order_release);
        if (fd < 0) backend.close(opened);
        return fd;
    }
    entry->of = &backend;
    entry->opened = opened;
    entry->flags = flags & (O_ACCMODE | O_APPEND);
    if (is_in_range(fd)) release(owners[fd].exchange(number_of(*entry)));
    return fd;
}

void duplicated(int from, int to) {
    if (from == to || !is_in_range(from) || !is_in_range(to) || shares_memory_with_parent()) return;
    const uint32_t owner = owners[from].load(std::memory_order_acquire);
    if (owner >= first_file) open_files[owner - first_file].references.fetch_add(1);
    release(owners[to].exchange(owner));
}

void closing(int fd) {
    if (is_in_range(fd) && !shares_memory_with_parent()) release(owners[fd].exchange(0));
}

void closing_range(unsigned first, unsigned last) {
    for (unsigned fd = first; fd <= last && fd < capacity; ++fd) closing(static_cast<int>(fd));
}

void flags_changed(int fd, int flags) {
    if (!is_in_range(fd) || shares_memory_with_parent()) return;
    const uint32_t owner = owners[fd].load(std::memory_order_acquire);
    if (owner < first_file) return;
    open_entry& entry = open_files[owner - first_file];
    entry.flags = (entry.flags & O_ACCMODE) | (flags & O_APPEND);
}

size_t path_of(int fd, char* out, size_t room) {
    const owned_file file = owner_of(fd);
    if (!file) return 0;
    for (int i = 0; i < mount_count; ++i) {
        const mount_point& at = mounts[i];
        if (at.of != &file.backend() || at.length + 2 > room) continue;
        const ssize_t length = file.backend().path_of(file.opened(), out + at.length, room - at.length);
        if (length <= 0) return 0;
        std::memcpy(out, at.prefix, at.length);
        const size_t whole = at.length + static_cast<size_t>(length);
        if (out[whole - 1] != '/') return whole;
        out[whole - 1] = '\0';
        return whole - 1;
    }
    return 0;
}

bool is_placeholder(std::string_view name) {
    return name.starts_with(mark);
}

int64_t size_of(int fd) {
    const owned_file file = owner_of(fd);
    struct stat now {};
    return file && file.backend().stat(file.opened(), now) == 0 ? now.st_size : none;
}

void before_exec() {
    if (!present() || shares_memory_with_parent()) return;
    for (int i = 0; i < mount_count; ++i) mounts[i].of->before_exec();
}

size_t mounted_path::complete(int directory, const char* path, bool& from_mount) {
    from_mount = false;
    if (path == nullptr) return 0;
    const size_t bytes = given::length_of_text(path, PATH_MAX);
    if (bytes == given::unreadable || bytes == 0 || bytes >= PATH_MAX) return 0;
    size_t length = 0;
    if (*path != '/') {
        length = directory == AT_FDCWD ? working_directory(whole_) : backends::path_of(directory, whole_, PATH_MAX);
        from_mount = length > 0;
        if (length == 0 && directory == AT_FDCWD) {
            const long got = direct::call(SYS_getcwd, direct::address(whole_), PATH_MAX);
            length = got > 1 ? static_cast<size_t>(got - 1) : 0;
        } else if (length == 0) {
            length = direct::path_of(directory, whole_, PATH_MAX);
        }
        if (length == 0 || whole_[0] != '/') return 0;
        whole_[length++] = '/';
    }
    std::memcpy(whole_ + length, path, bytes);
    return simplified(whole_, length + bytes);
}

bool mounted_path::look_up(size_t length) {
    for (int i = 0; i < mount_count; ++i) {
        const mount_point& at = mounts[i];
        if (length < at.length || std::memcmp(whole_, at.prefix, at.length) != 0) continue;
        if (length > at.length && whole_[at.length] != '/') continue;
        of_ = at.of;
        prefix_ = at.length;
        if (length == at.length) std::memcpy(whole_ + length, "/", 2);
        return true;
    }
    return false;
}

bool mounted_path::find(int directory, const char* path) {
    bool from_mount = false;
    const size_t length = complete(directory, path, from_mount);
    if (length == 0) return false;
    if (look_up(length)) return true;
    of_ = &nowhere;
    prefix_ = 0;
    return from_mount;
}

bool mounted_path::find_next_working_directory(const char* path) {
    bool from_mount = false;
    const size_t length = complete(AT_FDCWD, path, from_mount);
    if (length == 0) return false;
    if (look_up(length)) return true;
    of_ = nullptr;
    return from_mount || working_directory(nullptr) > 0;
}

int mounted_path::become_working_directory() {
    if (of_ == nullptr) {  // back to the kernel's
        const auto done = static_cast<int>(direct::call(SYS_chdir, direct::address(whole_)));
        if (done == 0) left_working_directory();
        return done;
    }
    struct stat found {};
    if (const int failed = of_->stat_path(path(), true, found); failed != 0) return failed;
    if (!S_ISDIR(found.st_mode)) return -ENOTDIR;
    const char after_prefix = std::exchange(whole_[prefix_], '\0');
    const long done = direct::call(SYS_chdir, direct::address(whole_));
    whole_[prefix_] = after_prefix;
    if (done < 0) return static_cast<int>(done);
    size_t length = std::strlen(whole_);
    while (length > prefix_ && whole_[length - 1] == '/') --length;
    directory_entry& mine = shares_memory_with_parent() ? of_child : of_process;
    std::memcpy(mine.text(), whole_, length);
    mine.text()[length] = '\0';
    mine.length = length;
    mine.process = direct::process_id();
    return 0;
}

int change_working_directory(int fd) {
    char whole[2 * PATH_MAX];
    mounted_path at;
    if (path_of(fd, whole, sizeof whole) == 0 || !at.find_next_working_directory(whole)) return -ENOENT;
    return at.become_working_directory();
}

void left_working_directory() {
    directory_entry& mine = shares_memory_with_parent() ? of_child : of_process;
    mine.length = 0;
    mine.process = direct::process_id();
}

size_t working_directory(char* out) {
    const directory_entry& mine = directory_of_this_process();
    if (mine.length > 0 && out != nullptr) std::memcpy(out, mine.text(), mine.length + 1);
    return mine.length;
}

const char* working_directory_of_children() {
    const directory_entry& mine = directory_of_this_process();
    return mine.length > 0 ? mine.entry : nullptr;
}

}  // namespace halcyon::calls::backends
