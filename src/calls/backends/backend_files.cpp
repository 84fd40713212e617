#include "calls/backends/backend_files.hpp"

#include <linux/memfd.h>
#include <sys/mman.h>

#include <cstring>

#include "calls/backends/kept_access.hpp"
#include "calls/record/call_record.hpp"
#include "calls/state/blocked_signals.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/known_files.hpp"

namespace halcyon::calls::backends {
namespace {

// Descriptors that are not looked at yet are 0, or `closed`; the kernel's files are `of_kernel`; others are an index
// into `open_files`, plus `first_file`. Written by whoever opens, duplicates or closes a descriptor, whose number is
// nobody else's at that moment, or by a first_look; an entry of open_files is given back by whoever takes its
// references to 0, and says the same for as long as it has any.
constexpr int capacity = 65536;
constexpr uint32_t of_kernel = 1;
constexpr uint32_t closed = 2;  // or about to be: looked at when somebody asks about it, and not before
constexpr uint32_t first_file = 3;
constinit std::atomic<uint32_t> owners[capacity] = {};

struct open_entry {
    std::atomic<uint32_t> references;  // descriptors; 0: free
    std::atomic<int> flags;
    std::atomic<file_backend*> of;
    std::atomic<file_backend::handle> opened;
    std::atomic<bool> is_adopted;  // then there may be descriptors of it that nobody has looked at yet

    void begin(file_backend& backend, file_backend::handle file, int with, bool was_adopted) {
        of.store(&backend, std::memory_order_relaxed);
        opened.store(file, std::memory_order_relaxed);
        flags.store(with, std::memory_order_relaxed);
        is_adopted.store(was_adopted, std::memory_order_relaxed);
        references.store(1, std::memory_order_release);
    }
    void drop() { references.store(0, std::memory_order_release); }
    [[nodiscard]] bool is_of(const owned_file& file, int with) const {
        return of.load(std::memory_order_relaxed) == &file.backend() &&
               opened.load(std::memory_order_relaxed) == file.opened() && flags.load(std::memory_order_relaxed) == with;
    }
    [[nodiscard]] owned_file file() const {
        return {of.load(std::memory_order_relaxed), opened.load(std::memory_order_relaxed),
                flags.load(std::memory_order_relaxed), false};
    }
};
constexpr uint32_t being_made = UINT32_MAX;  // references of an entry that is taken, and says nothing yet
constexpr uint32_t most_open = 16384;
constinit open_entry open_files[most_open] = {};
constinit std::atomic<uint32_t> next_free{0};
constinit std::atomic<bool> has_adopted{false};

/// While it lives, this thread alone looks at descriptors for the first time: of two that are duplicates of one
/// another, the second one finds what the first one found.
class first_look {
  public:
    first_look() {
        const auto own = static_cast<uint32_t>(direct::thread_id());
        for (int tries = 0;; ++tries) {
            uint32_t other = 0;
            held_ = this_presence.looker.compare_exchange_strong(other, own, std::memory_order_acquire);
            if (held_ || other == own) return;  // within a look already: the handler of a fault, or the backend itself
            direct::wait_a_little(tries);
        }
    }
    ~first_look() {
        if (held_) this_presence.looker.store(0, std::memory_order_release);
    }
    first_look(const first_look&) = delete;
    first_look& operator=(const first_look&) = delete;
    explicit operator bool() const { return held_; }

  private:
    const blocked_signals whole_;
    bool held_ = false;
};

/// An entry for begin() or drop(); null: there is no room.
open_entry* fresh_entry() {
    for (uint32_t tries = 0; tries < most_open; ++tries) {
        open_entry& entry = open_files[next_free.fetch_add(1, std::memory_order_relaxed) % most_open];
        uint32_t free = 0;
        if (entry.references.compare_exchange_strong(free, being_made, std::memory_order_acquire)) return &entry;
    }
    return nullptr;
}

uint32_t number_of(const open_entry& entry) {
    return static_cast<uint32_t>(&entry - open_files) + first_file;
}

void give_back(open_entry& entry) {
    const owned_file file = entry.file();
    if (entry.references.fetch_sub(1, std::memory_order_acq_rel) == 1) file.backend().close(file.opened());
}

/// The entry of a file that this process has open already, with one reference more; null: it has none. Descriptors that
/// were inherited as duplicates of one another (`2>&1`) are looked at one by one, and the backend has one file for
/// them.
open_entry* shared_entry(const owned_file& file, int flags) {
    const uint32_t used = next_free.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < used && i < most_open; ++i) {
        open_entry& entry = open_files[i];
        uint32_t references = entry.references.load(std::memory_order_acquire);
        if (references == 0 || references == being_made || !entry.is_of(file, flags)) continue;
        while (references != 0 && references != being_made &&
               !entry.references.compare_exchange_weak(references, references + 1, std::memory_order_acquire)) {
        }
        if (references == 0 || references == being_made) continue;
        if (entry.is_of(file, flags)) return &entry;
        give_back(entry);  // closed meanwhile, and another file's
    }
    return nullptr;
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

/// Of a placeholder in memory.
owned_file look_at_memory(int fd, std::string_view rest, bool is_borrowed) {
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

/// Of what a backend opened among the kernel's names.
owned_file look_at_names(int fd, const char* name, bool is_borrowed) {
    for (const mount_point& at : mounted()) {
        file_backend& of = *at.of;
        file_backend::handle opened = 0;
        int access = O_RDONLY;
        if (!of.shares_names() || of.adopt_descriptor(fd, name, opened, access) != 0) continue;
        const int status = direct::flags_of(fd);
        return {&of, opened, (access & O_ACCMODE) | (status > 0 ? status & O_APPEND : 0), is_borrowed};
    }
    return {};
}

/// Asks the kernel what `fd` is. Not of a backend, or not of one that this process has: none.
owned_file look_at(int fd, bool is_borrowed) {
    char name[PATH_MAX + longest_name];
    const size_t length = direct::path_of(fd, name, sizeof name);
    if (length == 0 || name[0] != '/') return {};
    const std::string_view all(name, length);
    return all.starts_with(mark) ? look_at_memory(fd, all, is_borrowed) : look_at_names(fd, name, is_borrowed);
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

/// The backend's own, or else a placeholder.
int make_descriptor(file_backend& backend, file_backend::handle opened, const char* name, int flags, bool& is_own) {
    const int own = backend.descriptor_of(opened, flags);
    is_own = own != -ENOSYS;
    return is_own ? own : make_placeholder(name, flags);
}

/// What an owner in `owners` says.
owned_file file_of(uint32_t owner) {
    return owner < first_file ? owned_file{} : open_files[owner - first_file].file();
}

/// The first time that anybody asks about `fd`; with a first_look.
owned_file look_alone(int fd) {
    uint32_t before = owners[fd].load(std::memory_order_acquire);
    if (before != 0 && before != closed) return file_of(before);
    if (direct::flags_of(fd) < 0) return {};  // none: it may become anything
    const owned_file found = look_at(fd, false);
    uint32_t now = of_kernel;
    if (found) {
        has_adopted.store(true, std::memory_order_relaxed);
        const int flags = found.access() | (found.appends() ? O_APPEND : 0);
        open_entry* entry = shared_entry(found, flags);
        if (entry == nullptr) {
            entry = fresh_entry();
            if (entry == nullptr) return {&found.backend(), found.opened(), flags, false};
            entry->begin(found.backend(), found.opened(), flags, true);
        }
        now = number_of(*entry);
    }
    if (owners[fd].compare_exchange_strong(before, now)) return file_of(now);
    if (now >= first_file) give_back(open_files[now - first_file]);  // the number was given to another file meanwhile
    return file_of(before);
}

/// Looks at all placeholders that nobody has looked at; with a first_look. False: they cannot be listed.
bool look_at_others() {
    const int list = direct::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (list < 0) return false;
    constexpr size_t length_at = 16;  // in a linux_dirent64
    constexpr size_t name_at = 19;
    alignas(8) char entries[2048];
    long bytes = 0;
    while ((bytes = direct::call(SYS_getdents64, list, direct::address(entries), sizeof entries)) > 0) {
        uint16_t length = 0;
        for (const char* at = entries; at < entries + bytes; at += length) {
            std::memcpy(&length, at + length_at, sizeof length);
            int fd = 0;
            for (const char* digit = at + name_at; *digit >= '0' && *digit <= '9'; ++digit) fd = 10 * fd + *digit - '0';
            if (at[name_at] == '.' || !is_in_range(fd) || owners[fd].load() != 0) continue;
            char name[PATH_MAX + longest_name];
            if (is_placeholder(fd, {name, direct::path_of(fd, name, sizeof name)})) look_alone(fd);
        }
    }
    direct::close(list);
    return bytes == 0;
}

void release(uint32_t owner) {
    if (owner < first_file) return;
    open_entry& entry = open_files[owner - first_file];
    if (!has_adopted.load(std::memory_order_relaxed)) return give_back(entry);
    const first_look alone;  // nobody adopts the file between its last descriptor's end and the backend's knowing of it
    const bool is_last = entry.references.load(std::memory_order_relaxed) == 1;
    if (alone && is_last && entry.is_adopted.load(std::memory_order_relaxed) && !look_at_others())
        return;  // it stays open: rather than that a descriptor loses it that nobody has looked at
    give_back(entry);
}

}  // namespace

owned_file owner_of(int fd) {
    if (fd < 0) return {};
    if (!is_in_range(fd) || shares_memory_with_parent()) [[unlikely]]
        return look_at(fd, true);
    const uint32_t owner = owners[fd].load(std::memory_order_acquire);
    if (owner == of_kernel) return {};
    if (owner >= first_file) [[likely]]
        return file_of(owner);
    const first_look alone;
    return alone ? look_alone(fd) : owned_file{};
}

int opened_as(file_backend& backend, file_backend::handle opened, int flags) {
    char name[longest_name] = "halcyon:";
    char* end = stpcpy(name + 8, backend.name());
    *end++ = ':';
    end = put_number(end, backend.key_of(opened));
    *end++ = ':';
    end = put_number(end, static_cast<uint64_t>(flags & O_ACCMODE));
    *end = '\0';
    if (shares_memory_with_parent()) {  // each of its calls adopts the file anew, for as long as the key holds it
        bool is_own = false;
        const int fd = make_descriptor(backend, opened, name, flags, is_own);
        if (fd < 0 || is_own) backend.close(opened);
        return fd;
    }
    open_entry* const entry = fresh_entry();
    const first_look alone;  // nobody finds the placeholder before it is noted
    bool is_own = false;
    const int fd = entry == nullptr ? -ENFILE : make_descriptor(backend, opened, name, flags, is_own);
    if (fd < 0) {
        if (entry != nullptr) entry->drop();
        backend.close(opened);
        return fd;
    }
    entry->begin(backend, opened, flags & (O_ACCMODE | O_APPEND), false);
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
    if (is_in_range(fd) && !shares_memory_with_parent()) release(owners[fd].exchange(closed));
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

void look_again_at_standard_descriptors() {
    for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
        if (owners[fd].load(std::memory_order_acquire) < first_file) continue;
        char name[PATH_MAX + longest_name];
        const size_t length = direct::path_of(fd, name, sizeof name);
        const bool is_gone = length > 0 ? !is_placeholder(fd, {name, length}) : direct::flags_of(fd) < 0;
        if (is_gone) closing(fd);
    }
}

size_t path_of(int fd, char* out, size_t room) {
    const owned_file file = owner_of(fd);
    return file ? path_of(file, out, room) : 0;
}

size_t path_of(const owned_file& file, char* out, size_t room) {
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

void placed_anew(file_backend& of, file_backend::handle opened) {
    if (this_process().places && !shares_memory_with_parent()) known_files::placed_anew({&of, opened, 0, false});
}

bool is_placeholder(int fd, std::string_view name) {
    return name.starts_with(mark) || (!mounted().empty() && kept_access(fd) >= 0);
}

int64_t size_of(int fd) {
    const owned_file file = owner_of(fd);
    struct stat now {};
    return file && file.backend().stat(file.opened(), now) == 0 ? now.st_size : none;
}

}  // namespace halcyon::calls::backends
