#include "calls/wrappers/stdio/stream_slots.hpp"

#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <climits>

#include "calls/backends/transfers.hpp"
#include "calls/state/standard_error.hpp"
#include "calls/wrappers/posix/transfer_shapes.hpp"

/// A stream, and behind what stdio.h shows of it, its table.
struct stream_with_table {
    FILE shown;
    void* const* table;
};

extern "C" {
// The C library's tables, and what stands in the five slots of each. Weak: another C library has none, perhaps.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern void* _IO_file_jumps[] __attribute__((weak));
extern void* _IO_wfile_jumps[] __attribute__((weak));
ssize_t _IO_file_read(FILE* stream, void* data, ssize_t bytes) __attribute__((weak));
ssize_t _IO_file_write(FILE* stream, const void* data, ssize_t bytes) __attribute__((weak));
off64_t _IO_file_seek(FILE* stream, off64_t offset, int whence) __attribute__((weak));
int _IO_file_close(FILE* stream) __attribute__((weak));
int _IO_file_stat(FILE* stream, void* out) __attribute__((weak));
extern stream_with_table _IO_2_1_stdin_ __attribute__((weak));
extern stream_with_table _IO_2_1_stdout_ __attribute__((weak));
extern stream_with_table _IO_2_1_stderr_ __attribute__((weak));
// NOLINTEND(bugprone-reserved-identifier)
}

namespace halcyon::calls {
namespace stream_slots {
namespace {

using backends::owned_file;

// --- what the slots lead to ---

owned_file owner_of(int fd) {
    return backends::present() ? backends::owner_of(fd) : owned_file{};
}

/// A transfer of a stream, which may be one of several that a call makes. Layers that delay let the call wait.
template <bool writes>
struct moves {
    static bool may_block(int, size_t) { return false; }
    static bool before(call_record& record, int fd, size_t bytes) {
        record.bytes = static_cast<int64_t>(bytes);
        return shapes::before_next(record, fd, writes);
    }
    static void after(call_record& record, ssize_t result, int fd, size_t) { shapes::after_next(record, result, fd); }
};

ssize_t read_once(const owned_file& file, int fd, void* data, size_t bytes) {
    const iovec piece = backends::piece_of(data, bytes);
    return recorded<moves<false>, call_id::stdio_read>(
        [&] { return backends::as_result<ssize_t>([&] { return backends::read_here(file, fd, piece); }); }, fd,
        piece.iov_len);
}

ssize_t write_once(const owned_file& file, int fd, const void* data, size_t bytes) {
    const iovec piece = backends::piece_of(data, bytes);
    return recorded<moves<true>, call_id::stdio_write>(
        [&] { return backends::as_result<ssize_t>([&] { return backends::write_here(file, fd, piece); }); }, fd,
        piece.iov_len);
}

constinit std::atomic<bool> process_ends{false};

/// The C library writes what streams hold when all destructors have run, and tells nobody whether it could.
void say_lost(int fd, size_t bytes) {
    const int error = errno;
    char path[2 * PATH_MAX];
    if (backends::path_of(fd, path, sizeof path) == 0) stpcpy(path, "a file without a name");
    char line[sizeof path + 160];
    const int length =
        snprintf(line, sizeof line, "halcyon: %zu bytes that a stream held when the process ended are not in %s: %s\n",
                 bytes, path, strerrordesc_np(error));
    say(line, length);
    errno = error;
}

ssize_t read_stream(FILE* stream, void* data, ssize_t bytes) {
    const int fd = stream->_fileno;
    const owned_file file = owner_of(fd);
    if (!file) [[likely]]
        return _IO_file_read(stream, data, bytes);
    return read_once(file, fd, data, static_cast<size_t>(bytes));
}

ssize_t write_stream(FILE* stream, const void* data, ssize_t bytes) {
    const int fd = stream->_fileno;
    const owned_file file = owner_of(fd);
    if (!file) [[likely]]
        return _IO_file_write(stream, data, bytes);
    const ssize_t written = write(file, fd, data, static_cast<size_t>(bytes));
    const ssize_t done = written < 0 ? 0 : written;
    if (done < bytes) {
        stream->_flags |= error_seen;
        if (process_ends.load(std::memory_order_relaxed)) say_lost(fd, static_cast<size_t>(bytes - done));
    }
    if (stream->_offset >= 0) stream->_offset += done;
    return done;
}

/// So that the next transfer is recorded where it is: no wrapper sees where a stream goes within the C library.
void note_position(int fd, int64_t position) {
    if (position < 0 || !recording() || backends::shares_memory_with_parent()) return;
    if (open_file* const file = descriptors::find(fd)) file->position.store(position, std::memory_order_relaxed);
}

off64_t seek_stream(FILE* stream, off64_t offset, int whence) {
    const int fd = stream->_fileno;
    const owned_file file = owner_of(fd);
    if (!file) [[likely]]
        return _IO_file_seek(stream, offset, whence);
    const int64_t position = backends::seek_to(file, fd, offset, whence);
    note_position(fd, position);
    return backends::as_result<off64_t>([&] { return position; });
}

int close_stream(FILE* stream) {
    if (!backends::present()) return _IO_file_close(stream);
    const int fd = stream->_fileno;
    const bool is_owned = static_cast<bool>(backends::owner_of(fd));
    backends::closing(fd);  // of the kernel's, too: the number may become a backend's
    if (!is_owned) return _IO_file_close(stream);
    if (!backends::shares_memory_with_parent()) descriptors::closing(fd);  // recording what waited remembered it
    return backends::as_result<int>([&] { return int64_t{direct::close(fd)}; });
}

int stat_stream(FILE* stream, void* out) {
    const owned_file file = owner_of(stream->_fileno);
    if (!file) [[likely]]
        return _IO_file_stat(stream, out);
    return backends::as_result<int>([&] {
        struct stat found {};
        const int64_t failed = file.backend().stat(file.opened(), found);
        if (failed == 0) std::memcpy(out, &found, sizeof found);
        return failed;
    });
}

// --- how they get there ---

constexpr size_t first_slot = 14;  // read, write, seek, close, stat
using slot_values = std::array<void*, 5>;

slot_values of_c_library() {
    return {reinterpret_cast<void*>(&_IO_file_read), reinterpret_cast<void*>(&_IO_file_write),
            reinterpret_cast<void*>(&_IO_file_seek), reinterpret_cast<void*>(&_IO_file_close),
            reinterpret_cast<void*>(&_IO_file_stat)};
}

slot_values of_ours() {
    return {reinterpret_cast<void*>(&read_stream), reinterpret_cast<void*>(&write_stream),
            reinterpret_cast<void*>(&seek_stream), reinterpret_cast<void*>(&close_stream),
            reinterpret_cast<void*>(&stat_stream)};
}

bool holds(void* const* table, const slot_values& expected) {
    if (table == nullptr) return false;
    for (size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] == nullptr || table[first_slot + i] != expected[i]) return false;
    }
    return true;
}

bool are_tables_of_streams() {
    for (const stream_with_table* stream : {&_IO_2_1_stdin_, &_IO_2_1_stdout_, &_IO_2_1_stderr_}) {
        if (stream != nullptr && stream->table == _IO_file_jumps) return true;
    }
    return false;
}

uintptr_t page_begin(uintptr_t address) {
    return address & ~(static_cast<uintptr_t>(getauxval(AT_PAGESZ)) - 1);
}

/// Whether the dynamic linker made the memory read-only when it had relocated it.
bool is_read_only(void* const* at) {
    struct question {
        uintptr_t address;
        bool found;
    } asked{reinterpret_cast<uintptr_t>(at), false};
    const auto look = [](dl_phdr_info* object, size_t, void* opaque) {
        auto& wanted = *static_cast<question*>(opaque);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
            const auto& part = object->dlpi_phdr[i];
            if (part.p_type != PT_GNU_RELRO) continue;
            const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
            if (wanted.address >= page_begin(begin) && wanted.address < page_begin(begin + part.p_memsz))
                wanted.found = true;
        }
        return wanted.found ? 1 : 0;
    };
    dl_iterate_phdr(look, &asked);
    return asked.found;
}

void store(void** slots, const slot_values& values) {
    for (size_t i = 0; i < values.size(); ++i) std::atomic_ref(slots[i]).store(values[i], std::memory_order_release);
}

/// Past the protection of pages that nobody may make writable any more (mseal).
bool store_through_kernel(void** slots, const slot_values& values) {
    const int memory = direct::open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    if (memory < 0) return false;
    const auto at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(slots));
    const bool whole = direct::pwrite(memory, values.data(), sizeof values, at) == sizeof values;
    direct::close(memory);
    return whole;
}

bool replace(void** table, const slot_values& values) {
    void** const slots = table + first_slot;
    if (!is_read_only(slots)) {
        store(slots, values);
        return true;
    }
    const uintptr_t begin = page_begin(reinterpret_cast<uintptr_t>(slots));
    const auto bytes = static_cast<long>(reinterpret_cast<uintptr_t>(slots + values.size()) - begin);
    const bool writable = direct::call(SYS_mprotect, static_cast<long>(begin), bytes, PROT_READ | PROT_WRITE) == 0;
    if (writable) store(slots, values);
    direct::call(SYS_mprotect, static_cast<long>(begin), bytes, PROT_READ);
    return writable || store_through_kernel(slots, values);
}

constinit std::atomic<const char*> why_refused{"no backend has started in this process"};

const char* start() {
    const slot_values known = of_c_library();
    if (!holds(_IO_file_jumps, known) || !holds(_IO_wfile_jumps, known) || !are_tables_of_streams())
        return "the tables of this C library's streams are not laid out as they are known to be";
    const slot_values ours = of_ours();
    if (replace(_IO_file_jumps, ours) && replace(_IO_wfile_jumps, ours)) return nullptr;
    if (holds(_IO_file_jumps, ours)) replace(_IO_file_jumps, known);
    return "the tables of this C library's streams cannot be changed";
}

bool is_standard_stream_on_backend() {
    for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
        char name[PATH_MAX];
        const size_t length = direct::path_of(fd, name, sizeof name);
        if (backends::is_placeholder(fd, {name, length})) return true;
    }
    return false;
}

// Programs may call nothing that a wrapper stands in front of, and have standard output redirected to a backend's file.
__attribute__((constructor)) void at_start() {
    static_cast<void>(backends::present());
}
// What the C library writes after this goes to writers of its own, so they are not ended where that is likely.
__attribute__((destructor)) void at_end() {
    expect_end();
    if (!is_standard_stream_on_backend()) backends::before_end();
}

}  // namespace

const char* refused() {
    return why_refused.load(std::memory_order_acquire);
}

bool answers(int fd) {
    return backends::present() && refused() == nullptr && backends::owner_of(fd);
}

void expect_end() {
    process_ends.store(true, std::memory_order_relaxed);
}

void say(const char* line, int length) {
    const owned_file file = backends::owner_of(STDERR_FILENO);
    if (!file) return standard_error::say(line, length);
    const iovec piece = backends::piece_of(line, static_cast<size_t>(length));
    if (standard_error::is_meant_for_people()) backends::write_here(file, STDERR_FILENO, piece);
}

ssize_t write(const owned_file& file, int fd, const void* data, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t now = write_once(file, fd, static_cast<const char*>(data) + done, bytes - done);
        if (now <= 0) {
            if (now == 0) errno = EIO;  // a backend that takes nothing would be asked for ever
            return done > 0 ? static_cast<ssize_t>(done) : -1;
        }
        done += static_cast<size_t>(now);
    }
    return static_cast<ssize_t>(done);
}

}  // namespace stream_slots

void backends::answer_streams() {
    const char* const why = stream_slots::start();
    stream_slots::why_refused.store(why, std::memory_order_release);
    if (why == nullptr || !stream_slots::is_standard_stream_on_backend()) return;
    char line[320];
    const int length = snprintf(line, sizeof line,
                                "halcyon: a standard stream of this program leads to a backend's file, and will fail "
                                "to read or write: %s\n",
                                why);
    stream_slots::say(line, length);
}

}  // namespace halcyon::calls
