#include "observe/trace/trace_layer.hpp"

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "base/clock.hpp"
#include "calls/clocks/node_clock.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/known_files.hpp"
#include "calls/state/process_state.hpp"
#include "calls/state/standard_error.hpp"

namespace halcyon::observe::trace {
namespace direct = calls::direct;

namespace {

size_t read_file(const char* path, char* out, size_t room) {
    const int fd = direct::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    size_t got = 0;
    while (got < room) {
        const ssize_t bytes = direct::read(fd, out + got, room - got);
        if (bytes <= 0) break;
        got += static_cast<size_t>(bytes);
    }
    direct::close(fd);
    return got;
}

/// Whether what is written to `path` goes through a network: then other nodes' writing would be disturbed by ours.
bool is_remote(const char* path) {
    struct statfs filesystem {};
    if (direct::call(SYS_statfs, direct::address(path), direct::address(&filesystem)) != 0) return false;
    switch (static_cast<uint32_t>(filesystem.f_type)) {
        case 0x6969:      // NFS
        case 0x0BD00BD0:  // Lustre
        case 0x47504653:  // GPFS
        case 0x19830326:  // BeeGFS
        case 0x00C36400:  // Ceph
        case 0x20030528:  // OrangeFS
        case 0x65735546:  // FUSE: GlusterFS and others
        case 0xFF534D42:  // CIFS
        case 0xFE534D42:  // SMB2
        case 0x5346414F:  // AFS
        case 0x01021997:  // 9P
            return true;
        default:
            return false;
    }
}

/// Pieces of text one after the other, each ended by 0; what does not fit is cut.
class text_pieces {
  public:
    void add(std::string_view piece) {
        for (const char character : piece) put(character == '\0' ? ' ' : character);
        put('\0');
    }
    void clear() { used_ = 0; }
    [[nodiscard]] std::string_view all() const { return {text_, used_}; }

  private:
    void put(char character) {
        if (used_ < sizeof text_) text_[used_++] = character;
    }
    char text_[6000];
    size_t used_ = 0;
};

}  // namespace

bool trace_layer::start(const settings& wanted, char* complaint, size_t complaint_bytes) {
    buffer_.leave_parent();
    file_.abandon();
    for (auto& named : named_) named = false;
    moving_ = false;
    contexts_ = wanted.contexts;
    utsname node{};
    direct::call(SYS_uname, direct::address(&node));
    snprintf(name_, sizeof name_, "%.64s.%d.%lld", node.nodename, direct::process_id(),
             static_cast<long long>(realtime_ns()));
    snprintf(directory_, sizeof directory_, "%.*s", static_cast<int>(wanted.directory.size()), wanted.directory.data());
    // A unit of about a nanosecond: finer is noise, which costs space.
    time_unit_ = calls::counter_is_steady ? 2 : 1;
    const std::string_view local = !wanted.local.empty()   ? wanted.local
                                   : is_remote(directory_) ? "/tmp"
                                                           : wanted.directory;
    int error = 0;
    const char* const where = begin(local, wanted.buffer_bytes, error);
    if (error == 0) {
        buffer_.forget_parent();
        return true;
    }
    if (!leave_mark(wanted.directory)) buffer_.tell_parent();
    snprintf(complaint, complaint_bytes, "%s: cannot record here: %s", where, strerrordesc_np(error));
    return false;
}

/// Makes the files. Where it cannot, none stays, `error` says why, and the answer which.
const char* trace_layer::begin(std::string_view local, size_t buffer_bytes, int& error) {
    static char path[trace_file::longest_path];  // not on the stack, which may be small: one thread starts
    snprintf(path, sizeof path, "%.*s", static_cast<int>(local.size()), local.data());
    if (!file_.create(local, name_)) {
        error = file_.error();
        return path;
    }
    if (local == directory_)
        directory_[0] = '\0';
    else
        error = leave_address(local);
    if (error != 0) {
        file_.remove();
        return directory_;
    }
    write_process_section();
    error = ENAMETOOLONG;
    if (join_path(path, local, name_, ".ring") && buffer_.create(path, buffer_bytes, file_, time_unit_, error)) {
        if (file_.publish()) return path;
        error = file_.error();
        direct::unlink(path);
    }
    buffer_.abandon();
    file_.remove();
    static char address[trace_file::longest_path];
    if (directory_[0] != '\0' && join_path(address, directory_, name_, ".local")) direct::unlink(address);
    return path;
}

/// `<name>.unrecorded`, an empty file: readers count this process among those that they do not see. It needs no room
/// for data, and no descriptor. False where it cannot be made either.
bool trace_layer::leave_mark(std::string_view directory) {
    static char path[trace_file::longest_path];  // stacks may be small
    return join_path(path, directory, name_, ".unrecorded") &&
           direct::call(SYS_mknodat, AT_FDCWD, direct::address(path), S_IFREG | 0600, 0) == 0;
}

/// For a process that is killed: `<name>.local` says on which node and where its trace lies. An error of errno where
/// that cannot be said: then the trace could not be moved there either, and nobody would find it.
int trace_layer::leave_address(std::string_view local) {
    static char path[trace_file::longest_path];  // stacks may be small
    if (!join_path(path, directory_, name_, ".local")) return ENAMETOOLONG;
    const int fd = direct::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return -fd;
    direct::pwrite(fd, local.data(), local.size(), 0);
    direct::close(fd);
    return 0;
}

void trace_layer::move_to_directory() {
    if (directory_[0] == '\0' || moving_.exchange(true)) return;
    static char address[trace_file::longest_path];  // one thread at a time
    if (!file_.move_to(directory_, name_)) return;
    if (join_path(address, directory_, name_, ".local")) direct::unlink(address);
    directory_[0] = '\0';
}

void trace_layer::write_process_section() {
    const process_section section{direct::process_id(), direct::parent_process_id(), anchor_now(), time_unit_, 0};
    static text_pieces texts;
    static char text[4096];
    texts.clear();
    utsname node{};
    direct::call(SYS_uname, direct::address(&node));
    texts.add(node.nodename);
    const long length =
        direct::call(SYS_readlinkat, AT_FDCWD, direct::address("/proc/self/exe"), direct::address(text), sizeof text);
    // Where there is no /proc: what the program was started by.
    const auto* started_by = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    const std::string_view name = started_by == nullptr ? "" : started_by;
    texts.add(length < 0 ? name : std::string_view(text, static_cast<size_t>(length)));
    size_t bytes = read_file("/proc/self/cmdline", text, sizeof text);
    if (bytes > 0 && text[bytes - 1] == '\0') --bytes;
    texts.add(bytes == 0 ? name : std::string_view(text, bytes));
    texts.add({text, calls::node_clock_name(text, sizeof text)});
    file_.append(section_kind::process, bytes_of(section), texts.all());
}

void trace_layer::append(const calls::call_record& record) {
    if (record.file == calls::known_files::ignored) return;
    calls::thread_state& thread = calls::this_thread();
    ++thread.inside;
    if (!named_[record.function].load(std::memory_order_relaxed)) [[unlikely]]
        name_function(record.function);
    buffer_.append(record);
    --thread.inside;
}

void trace_layer::name_function(uint16_t function) {
    const calls::function_entry& entry = calls::entry_of(function);
    const function_section section{function, static_cast<uint8_t>(entry.at), static_cast<uint8_t>(entry.does), 0};
    // Before anyone relies on it; that another thread says it, too, does no harm.
    if (buffer_.note(note_kind::function, bytes_of(section), entry.name)) named_[function] = true;
}

void trace_layer::on_file(const calls::named_file& file) {
    const calls::own_work ours;
    const file_section section{file.id, static_cast<uint32_t>(file.filesystem), file.block_bytes};
    buffer_.note_file(section, file.path);
}

void trace_layer::on_fact(uint32_t file, std::string_view key, std::string_view value) {
    const calls::own_work ours;
    const fact_section section{file, 0, calls::ticks()};
    text_pieces texts;
    texts.add(key);
    texts.add(value);
    buffer_.note(note_kind::fact, bytes_of(section), texts.all());
}

/// As a fact: `context.` and the number in eight digits; the frames, innermost first.
void trace_layer::on_context(uint32_t id, std::span<const calls::context_frame> frames) {
    const calls::own_work ours;
    const fact_section section{0, 0, calls::ticks()};
    buffer_.note_written(note_kind::fact, bytes_of(section), [&](note_text& text) {
        text.add("context.");
        text.add_hexadecimal(id, 8);
        text.add('\0');
        bool first = true;
        for (const calls::context_frame& frame : frames) {
            if (!first) text.add(' ');
            first = false;
            text.add(frame.object);
            text.add("+0x");
            text.add_hexadecimal(frame.offset, 1);
        }
        text.add('\0');
    });
}

void trace_layer::on_absence(std::string_view subject, uint64_t count) {
    const calls::own_work ours;
    const absence_section section{count};
    buffer_.note(note_kind::absence, bytes_of(section), subject);
}

void trace_layer::on_end(calls::ending how) {
    const calls::own_work ours;
    if (const uint32_t shut_out = buffer_.take_shut_out(); shut_out > 0) on_absence(shut_out_processes, shut_out);
    buffer_.flush();
    const end_section section{static_cast<uint32_t>(how), 0, buffer_.lost(), anchor_now()};
    file_.append(section_kind::end, bytes_of(section));
    move_to_directory();
    if (!file_.failed()) return;
    buffer_.note_end(section.how);
    complain();
}

// Apart, because of the room it needs: stacks may be small.
[[gnu::noinline]] void trace_layer::complain() const {
    char message[trace_file::longest_path + 160];
    const int length =
        snprintf(message, sizeof message, "halcyon: %s: recording stopped: %s; %llu calls are missing\n", file_.path(),
                 strerrordesc_np(file_.error()), static_cast<unsigned long long>(buffer_.lost()));
    calls::standard_error::say(message, length);
}

}  // namespace halcyon::observe::trace
