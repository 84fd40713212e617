#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calls/backends/mounts.hpp"

/// Which descriptors of this process belong to a backend (file_backend.hpp).
///
/// A descriptor of a backend's file is a placeholder: a real one, so that the kernel gives out its number, duplicates
/// it, hands it to children and closes it on exec, and keeps the position that all duplicates share, in all processes.
/// It stands for an empty file in memory whose name says which backend it belongs to and which file it is there; so a
/// program that this one starts finds out what it inherited. Whoever reads or writes it past the wrappers (the C
/// library's streams, syscall(2)) gets an error, and no data that are not the file's: it is sealed, and open for
/// writing only.
namespace halcyon::calls::backends {

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
/// In a child of fork: daemon and forkpty, which make one, give 0 to 2 other files within the C library.
void look_again_at_standard_descriptors();

/// The whole path of a placeholder's file: mount prefix and name. Its length; 0: `fd` is none, or the name is gone.
size_t path_of(int fd, char* out, size_t room);
/// Likewise, of the file.
size_t path_of(const owned_file& file, char* out, size_t room);
/// A backend's file_backend::say_places() says something else by now: layers that want to know are told. Not where the
/// backend holds a lock that it needs for saying so.
void placed_anew(file_backend& of, file_backend::handle opened);
/// Whether `fd`, whose file the kernel calls so, is a placeholder.
bool is_placeholder(int fd, std::string_view name);
/// Its size; none (call_record.hpp) where `fd` is no placeholder.
int64_t size_of(int fd);

}  // namespace halcyon::calls::backends
