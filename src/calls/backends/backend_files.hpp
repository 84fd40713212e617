#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "calls/backends/file_backend.hpp"

/// Which files and descriptors of this process belong to a backend (file_backend.hpp).
///
/// A descriptor of a backend's file is a placeholder: a real one, so that the kernel gives out its number, duplicates
/// it, hands it to children and closes it on exec, and keeps the position that all duplicates share, in all processes.
/// It stands for an empty file in memory whose name says which backend it belongs to and which file it is there; so a
/// program that this one starts finds out what it inherited. Whoever reads or writes it past the wrappers (the C
/// library's streams, syscall(2)) gets an error, and no data that are not the file's: it is sealed, and open for
/// writing only.
namespace halcyon::calls::backends {

inline constexpr int most_mounts = 4;

/// Decides which backends answer in this process: calls mount() for each. Given by the library that is built from this
/// room, called once in a program, in the thread that made its first call; must obey the rules of layer.
void start_backends();

/// All paths under `prefix` (absolute, as realpath gives it) and what is opened there are the backend's from now on.
/// For start_backends() alone. False: there are too many, or the prefix is not absolute or too long.
bool mount(file_backend& backend, std::string_view prefix);

/// What becomes of calls in this process; in pages that the kernel empties in a child of fork.
enum class presence : uint32_t { not_asked = 0, none, some };
struct alignas(65536) presence_page {
    std::atomic<presence> now;
};
extern presence_page this_presence;
bool ask_presence();

/// Whether this process has backends at all: without, a call costs this one question.
inline bool present() {
    const presence now = this_presence.now.load(std::memory_order_acquire);
    if (now == presence::none) [[likely]]
        return false;
    return now == presence::some ? true : ask_presence();
}

/// A file of a backend that a descriptor stands for.
class owned_file {
  public:
    owned_file() = default;
    owned_file(file_backend* of, file_backend::handle opened, int flags, bool is_borrowed)
        : of_(of), opened_(opened), flags_(flags), borrowed_(is_borrowed) {}
    ~owned_file() { give_back(); }
    owned_file(owned_file&& other) noexcept
        : of_(other.of_), opened_(other.opened_), flags_(other.flags_), borrowed_(other.borrowed_) {
        other.of_ = nullptr;
    }
    owned_file& operator=(owned_file&& other) noexcept {
        if (this == &other) return *this;
        give_back();
        of_ = other.of_, opened_ = other.opened_, flags_ = other.flags_, borrowed_ = other.borrowed_;
        other.of_ = nullptr;
        return *this;
    }

    explicit operator bool() const { return of_ != nullptr; }
    [[nodiscard]] file_backend& backend() const { return *of_; }
    [[nodiscard]] file_backend::handle opened() const { return opened_; }
    [[nodiscard]] int access() const { return flags_ & O_ACCMODE; }
    [[nodiscard]] bool appends() const { return (flags_ & O_APPEND) != 0; }
    [[nodiscard]] bool may_read() const { return access() != O_WRONLY; }
    [[nodiscard]] bool may_write() const { return access() != O_RDONLY; }

  private:
    /// One that a child of vfork adopted for a call: it may note nothing.
    void give_back() {
        if (of_ != nullptr && borrowed_) of_->close(opened_);
    }

    file_backend* of_ = nullptr;
    file_backend::handle opened_ = 0;
    int flags_ = 0;
    bool borrowed_ = false;
};

/// Of the kernel's files, and of numbers that are no descriptors, none. Asks the kernel once about each.
[[nodiscard]] owned_file owner_of(int fd);

/// A descriptor for a file that the backend opened a moment ago, the lowest that is free; -errno, and then the file is
/// closed.
int opened_as(file_backend& backend, file_backend::handle opened, int flags);

/// `to` was made a duplicate of `from`, whosever that is.
void duplicated(int from, int to);
/// `fd` is about to be closed; the backend is told when it is the last.
void closing(int fd);
void closing_range(unsigned first, unsigned last);
/// F_SETFL was done.
void flags_changed(int fd, int flags);

/// The whole path of a placeholder's file: mount prefix and name. Its length; 0: `fd` is none, or the name is gone.
size_t path_of(int fd, char* out, size_t room);
/// Whether what the kernel calls a file is the name of a placeholder.
bool is_placeholder(std::string_view name);
/// Its size; none (call_record.hpp) where `fd` is no placeholder.
int64_t size_of(int fd);

/// For the wrappers of exec.
void before_exec();
/// `NAME=value` for the environment of a program that this process becomes or starts, by which it finds the working
/// directory where that lies under a mount; null where it does not.
const char* working_directory_of_children();
inline constexpr char working_directory_variable[] = "HALCYON_WORKING_DIRECTORY";

/// A path that lies under a mount, and the backend that it is a path of.
class mounted_path {
  public:
    /// Looks at `path` from `directory` (a descriptor, or AT_FDCWD) as the kernel would, but for symbolic links: none
    /// is followed on the way into a mount. False: it is the kernel's matter.
    ///
    /// The kernel cannot be asked for a relative path that leads out of a mount again: each operation on it is EXDEV.
    bool find(int directory, const char* path);
    /// As find(), for chdir; also true where a working directory under a mount is left.
    bool find_next_working_directory(const char* path);
    /// The working directory becomes this one, if it is a directory. 0, or -errno.
    int become_working_directory();
    [[nodiscard]] file_backend& backend() const { return *of_; }
    /// With the prefix; but of the prefix itself, which ends with a slash then.
    [[nodiscard]] const char* whole() const { return whole_; }
    /// Below the prefix.
    [[nodiscard]] const char* path() const { return whole_ + prefix_; }

  private:
    size_t complete(int directory, const char* path, bool& from_mount);
    bool look_up(size_t length);

    file_backend* of_ = nullptr;
    size_t prefix_ = 0;
    char whole_[2 * PATH_MAX];
};

/// The working directory, where it lies under a mount; its length, 0 where it does not. `out`: room for PATH_MAX, or
/// null.
size_t working_directory(char* out);
/// A descriptor of a backend's directory becomes the working directory. 0, or -errno.
int change_working_directory(int fd);
/// The kernel has another working directory now.
void left_working_directory();

/// What a function returns for what a backend did: -errno becomes errno and the function's own mark of failure.
template <class Result, class Answer>
Result as_result(Answer answer) {
    if constexpr (std::is_void_v<Result>) {
        answer();
    } else {
        const auto told = answer();
        if constexpr (!std::is_same_v<decltype(told), const int64_t>) {
            return told;
        } else {
            if (told >= 0 || told < -4095) return static_cast<Result>(told);
            errno = static_cast<int>(-told);
            return static_cast<Result>(-1);
        }
    }
}

}  // namespace halcyon::calls::backends
