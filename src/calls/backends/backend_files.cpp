#include "calls/backends/backend_files.hpp"

#include <linux/memfd.h>
#include <sys/mman.h>

#include <cstring>

#include "calls/record/call_record.hpp"
#include "calls/state/blocked_signals.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls::backends {
namespace {

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

/// The entry of a file that this process has open already, with one reference more; null: it has none. Descriptors that
/// were inherited as duplicates of one another (`2>&1`) are looked at one by one, and the backend has one file for
/// them.
open_entry* shared_entry(const owned_file& file, int flags) {
    const uint32_t used = next_free.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < used && i < most_open; ++i) {
        open_entry& entry = open_files[i];
        uint32_t references = entry.references.load(std::memory_order_acquire);
        if (references == 0 || entry.of != &file.backend() || entry.opened != file.opened() || entry.flags != flags)
            continue;
        while (references > 0 && !entry.references.compare_exchange_weak(references, references + 1)) {
        }
        if (references > 0) return &entry;
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
    for (const mount_point& at : mounted()) {
        file_backend& of = *at.of;
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

}  // namespace

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
        const int flags = found.access() | (found.appends() ? O_APPEND : 0);
        open_entry* entry = shared_entry(found, flags);
        if (entry == nullptr) {
            entry = fresh_entry();
            if (entry == nullptr) return found;
            entry->of = &found.backend();
            entry->opened = found.opened();
            entry->flags = flags;
        }
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
    for (const mount_point& at : mounted()) {
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

}  // namespace halcyon::calls::backends
