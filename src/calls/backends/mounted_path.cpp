#include "calls/backends/mounted_path.hpp"

#include <cstring>
#include <utility>

#include "calls/backends/backend_files.hpp"
#include "calls/backends/followed_path.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/given_memory.hpp"

namespace halcyon::calls::backends {
namespace {

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
    int set_owner(const char*, bool, uid_t, gid_t) override { return -EXDEV; }
    int set_owner(handle, uid_t, gid_t) override { return -EXDEV; }
    int set_times(const char*, bool, const timespec[2]) override { return -EXDEV; }
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

/// The descriptor that the kernel, too, takes such a name for; -1: none.
int descriptor_called(std::string_view path) {
    constexpr std::string_view standard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    for (int fd = 0; fd <= STDERR_FILENO; ++fd)
        if (path == standard[fd]) return fd;
    for (const std::string_view folder : {std::string_view("/dev/fd/"), std::string_view("/proc/self/fd/")}) {
        if (!path.starts_with(folder)) continue;
        path.remove_prefix(folder.size());
        constexpr size_t most_digits = 7;
        if (path.empty() || path.size() > most_digits) return -1;
        int fd = 0;
        for (const char digit : path) {
            if (digit < '0' || digit > '9') return -1;
            fd = 10 * fd + (digit - '0');
        }
        return fd;
    }
    return -1;
}

/// Of a descriptor of a backend: it is the kernel's as well, which can be asked for what lies outside of the mount.
bool is_of_kernel_too(int directory) {
    const owned_file file = owner_of(directory);
    return file && file.backend().shares_names();
}

const directory_entry& directory_of_this_process() {
    return shares_memory_with_parent() && of_child.process == direct::process_id() ? of_child : of_process;
}

}  // namespace

void inherit_working_directory(const char* path) {
    char here[PATH_MAX];
    const long got = direct::call(SYS_getcwd, direct::address(here), sizeof here);
    if (path == nullptr || got <= 1) return;
    for (const mount_point& at : mounted()) {
        const size_t length = std::strlen(path);
        if (std::strcmp(here, at.prefix) != 0 || length >= PATH_MAX || !std::string_view(path).starts_with(at.prefix))
            continue;
        std::memcpy(of_process.text(), path, length + 1);
        of_process.length = length;
    }
}

/// Of a descriptor of a backend's. 0: it is none, or has no path.
size_t mounted_path::put_path_of(int fd) {
    const owned_file file = owner_of(fd);
    if (!file) return 0;
    const size_t length = backends::path_of(file, whole_.text(), whole_.room());
    if (length > 0) return length;
    return whole_.reserve(PATH_MAX) ? backends::path_of(file, whole_.text(), PATH_MAX) : 0;
}

/// What a relative path begins at.
size_t mounted_path::put_directory(int directory, bool& from_mount) {
    if (directory != AT_FDCWD) {
        const size_t length = put_path_of(directory);
        from_mount = length > 0 && !is_of_kernel_too(directory);
        if (length > 0) return length;
        return put_path(whole_, PATH_MAX,
                        [&](char* out, size_t room) { return direct::path_of(directory, out, room); });
    }
    if (const size_t length = working_directory(nullptr); length > 0) {
        if (!whole_.reserve(length + 1)) return 0;
        from_mount = true;
        return working_directory(whole_.text());
    }
    long got = direct::call(SYS_getcwd, direct::address(whole_.text()), static_cast<long>(whole_.room()));
    if (got == -ERANGE && whole_.reserve(PATH_MAX))
        got = direct::call(SYS_getcwd, direct::address(whole_.text()), PATH_MAX);
    return got > 1 ? static_cast<size_t>(got - 1) : 0;
}

size_t mounted_path::complete(int directory, const char* path, bool& from_mount) {
    from_mount = false;
    if (path == nullptr) return 0;
    const size_t bytes = given::length_of_text(path, PATH_MAX);
    if (bytes == given::unreadable || bytes == 0 || bytes >= PATH_MAX) return 0;
    size_t length = 0;
    if (*path != '/') {
        length = put_directory(directory, from_mount);
        if (length == 0 || whole_.text()[0] != '/') return 0;
    }
    // A slash in between, and what look_up() and simplified() put behind it.
    constexpr size_t more = 4;
    const bool has_parents = std::string_view(path, bytes).find("..") != std::string_view::npos;
    if (!whole_.reserve(has_parents ? 2 * PATH_MAX : length + bytes + more)) return 0;
    if (length > 0) whole_.text()[length++] = '/';
    std::memcpy(whole_.text() + length, path, bytes);
    size_t all = length + bytes;
    bool all_found = true;
    if (has_parents) all = follow_parents(whole_.text(), all, length, all_found);
    is_lost_ = !all_found;
    return simplified(whole_.text(), all);
}

/// Not what the kernel has to say is nowhere.
bool mounted_path::look_up(size_t length) {
    char* const whole = whole_.text();
    for (const mount_point& at : mounted()) {
        if (length < at.length || std::memcmp(whole, at.prefix, at.length) != 0) continue;
        if (length > at.length && whole[at.length] != '/') continue;
        of_ = at.of;
        prefix_ = at.length;
        if (length == at.length) std::memcpy(whole + length, "/", 2);
        return !is_lost_ || !of_->shares_names();
    }
    return false;
}

bool mounted_path::answers_or_leads_out(size_t length, bool from_mount) {
    if (length == 0) return false;
    if (look_up(length)) return !of_->shares_names() || of_->answers(this->path());
    of_ = &nowhere;
    prefix_ = 0;
    return from_mount;
}

bool mounted_path::find(int directory, const char* path) {
    bool from_mount = false;
    const size_t length = complete(directory, path, from_mount);
    return answers_or_leads_out(length, from_mount);
}

bool mounted_path::find_opened(int fd) {
    const size_t length = put_path_of(fd);
    return length > 0 && whole_.reserve(length + 2) && answers_or_leads_out(length, false);
}

bool mounted_path::find_descriptor(const char* path) {
    constexpr size_t longest = 40;
    if (path == nullptr || *path != '/') return false;
    const size_t bytes = given::length_of_text(path, longest);
    if (bytes == given::unreadable || bytes == longest) return false;
    const int fd = descriptor_called({path, bytes});
    if (fd < 0 || !is_of_kernel_too(fd)) return false;
    const size_t length = put_path_of(fd);
    return length > 0 && whole_.reserve(length + 2) && look_up(length);
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
    char* const whole = whole_.text();
    if (of_ == nullptr) {  // back to the kernel's
        const auto done = static_cast<int>(direct::call(SYS_chdir, direct::address(whole)));
        if (done == 0) left_working_directory();
        return done;
    }
    struct stat found {};
    if (const int failed = of_->stat_path(path(), true, found); failed != 0) return failed;
    if (!S_ISDIR(found.st_mode)) return -ENOTDIR;
    if (of_->shares_names()) {
        const auto moved = static_cast<int>(direct::call(SYS_chdir, direct::address(whole)));
        if (moved == 0) left_working_directory();
        return moved;
    }
    const char after_prefix = std::exchange(whole[prefix_], '\0');
    const long done = direct::call(SYS_chdir, direct::address(whole));
    whole[prefix_] = after_prefix;
    if (done < 0) return static_cast<int>(done);
    size_t length = std::strlen(whole);
    while (length > prefix_ && whole[length - 1] == '/') --length;
    directory_entry& mine = shares_memory_with_parent() ? of_child : of_process;
    std::memcpy(mine.text(), whole, length);
    mine.text()[length] = '\0';
    mine.length = length;
    mine.process = direct::process_id();
    return 0;
}

int change_working_directory(int fd) {
    path_room whole;
    mounted_path at;
    const size_t length = put_path(whole, PATH_MAX, [&](char* out, size_t room) {
        const size_t put = path_of(fd, out, room);
        return put > 0 ? put : room;  // it may be too long
    });
    if (length == 0 || length >= whole.room() || !at.find_next_working_directory(whole.text())) return -ENOENT;
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
