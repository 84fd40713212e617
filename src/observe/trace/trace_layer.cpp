#include "observe/trace/trace_layer.hpp"

#include <stdio.h>
#include <sys/utsname.h>

#include "base/clock.hpp"
#include "calls/direct_call.hpp"
#include "calls/known_files.hpp"
#include "calls/process_state.hpp"
#include "calls/ticks.hpp"

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
    buffer_.abandon();
    file_.abandon();
    for (auto& named : named_) named = false;

    utsname node{};
    direct::call(SYS_uname, direct::address(&node));
    char name[160];
    snprintf(name, sizeof name, "%.64s.%d.%lld", node.nodename, direct::process_id(),
             static_cast<long long>(realtime_ns()));
    // A unit of about a nanosecond: finer is noise, which costs space.
    time_unit_ = calls::counter_is_steady ? 2 : 1;
    if (!file_.create(wanted.directory, name)) {
        snprintf(complaint, complaint_bytes, "%.*s: cannot record here: %s", static_cast<int>(wanted.directory.size()),
                 wanted.directory.data(), strerrordesc_np(file_.error()));
        return false;
    }
    static char ring[trace_file::longest_path + 8];  // not on the stack, which may be small: one thread starts
    snprintf(ring, sizeof ring, "%.*s/%s.ring", static_cast<int>(wanted.directory.size()), wanted.directory.data(),
             name);
    write_process_section();
    int error = 0;
    if (!buffer_.create(ring, wanted.buffer_bytes, file_, time_unit_, error)) {
        snprintf(complaint, complaint_bytes, "%s: cannot record here: %s", ring, strerrordesc_np(error));
        return false;
    }
    return true;
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
    texts.add({text, length < 0 ? 0 : static_cast<size_t>(length)});
    size_t bytes = read_file("/proc/self/cmdline", text, sizeof text);
    if (bytes > 0 && text[bytes - 1] == '\0') --bytes;
    texts.add({text, bytes});
    bytes = read_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    if (bytes > 0) --bytes;
    texts.add({text, bytes});
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
    if (file_.append(section_kind::function, bytes_of(section), entry.name)) named_[function] = true;
}

void trace_layer::on_file(const calls::named_file& file) {
    const calls::own_work ours;
    const file_section section{file.id, 0, file.block_bytes, file.filesystem};
    file_.append(section_kind::file, bytes_of(section), file.path);
}

void trace_layer::on_fact(uint32_t file, std::string_view key, std::string_view value) {
    const calls::own_work ours;
    const fact_section section{file, 0, calls::ticks()};
    text_pieces texts;
    texts.add(key);
    texts.add(value);
    file_.append(section_kind::fact, bytes_of(section), texts.all());
}

void trace_layer::on_absence(std::string_view subject, uint64_t count) {
    const calls::own_work ours;
    const absence_section section{count};
    file_.append(section_kind::absence, bytes_of(section), subject);
}

void trace_layer::on_end(calls::ending how) {
    const calls::own_work ours;
    buffer_.flush(true);
    const uint64_t unrecorded = calls::this_process().unrecorded.exchange(0);
    if (unrecorded > 0) on_absence("calls of signal handlers, or between vfork and exec", unrecorded);
    const uint64_t direct_calls = calls::this_process().direct_calls.exchange(0);
    if (direct_calls > 1) on_absence("calls made with syscall(2)", direct_calls - 1);  // the first was told
    const end_section section{static_cast<uint32_t>(how), 0, buffer_.lost(), anchor_now()};
    file_.append(section_kind::end, bytes_of(section));
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
    direct::call(SYS_write, 2, direct::address(message), length);
}

}  // namespace halcyon::observe::trace
