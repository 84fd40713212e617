// A library like libhalcyon-io whose one layer writes each call down as a line of text: what tests look into.
//
// Lines of `$HALCYON_TEXT_DIR/<process id>`, members between tabs:
//   call thread number parent level function kind file offset bytes moved result argument error context
//        parent-function may-block transfers
//   context id frames
//   file id path block-bytes | fact file key value | absence subject count | end how
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "calls/record/call_table.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/process_state.hpp"
#include "calls/state/unseen.hpp"
#include "calls/wrappers/stdio/stdio_shapes.hpp"

namespace halcyon::calls {
namespace {

class text_layer final : public layer {
  public:
    bool start() {
        const char* directory = getenv("HALCYON_TEXT_DIR");
        if (directory == nullptr) return false;
        contexts_ = getenv("HALCYON_TEXT_CONTEXTS") != nullptr;
        char path[4096];
        snprintf(path, sizeof path, "%s/%d", directory, direct::process_id());
        const int low = direct::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        constexpr int out_of_the_way = 500;
        fd_ = direct::duplicate_high(low, out_of_the_way);
        direct::close(low);
        descriptors::own(fd_);
        return fd_ >= 0;
    }

    void invoke(call_record& record, const next_call& next) override {
        const call_circumstances about = next.circumstances(record);
        next(record);
        if (record.file == known_files::ignored) return;
        const own_work ours;
        const function_entry& entry = entry_of(record.function);
        write_line("call\t%u\t%u\t%u\t%s\t%s\t%s\t%u\t%lld\t%lld\t%lld\t%lld\t%lld\t%u\t%u\t%s\t%d\t%s", record.thread,
                   record.number, record.parent, level_names[static_cast<int>(entry.at)], entry.name,
                   kind_names[static_cast<int>(entry.does)], record.file, static_cast<long long>(record.offset),
                   static_cast<long long>(record.bytes), static_cast<long long>(record.moved),
                   static_cast<long long>(record.result), static_cast<long long>(record.argument), record.error,
                   record.context, entry_of(static_cast<uint16_t>(about.parent_function)).name, about.may_block ? 1 : 0,
                   expected_names[static_cast<int>(about.transfers)]);
    }
    void on_file(const named_file& file) override {
        write_line("file\t%u\t%.*s\t%lld", file.id, static_cast<int>(file.path.size()), file.path.data(),
                   static_cast<long long>(file.block_bytes));
    }
    void on_fact(uint32_t file, std::string_view key, std::string_view value) override {
        write_line("fact\t%u\t%.*s\t%.*s", file, static_cast<int>(key.size()), key.data(),
                   static_cast<int>(value.size()), value.data());
    }
    [[nodiscard]] bool wants_contexts() const override { return contexts_; }
    void on_context(uint32_t id, std::span<const context_frame> frames) override {
        char text[16000];
        int length = 0;
        for (const context_frame& frame : frames) {
            length += snprintf(text + length, sizeof text - length, "%s%.*s+0x%llx", length == 0 ? "" : " ",
                               static_cast<int>(frame.object.size()), frame.object.data(),
                               static_cast<unsigned long long>(frame.offset));
        }
        write_line("context\t%u\t%s", id, text);
    }
    void on_absence(std::string_view subject, uint64_t count) override {
        write_line("absence\t%.*s\t%llu", static_cast<int>(subject.size()), subject.data(),
                   static_cast<unsigned long long>(count));
    }
    void on_end(ending how) override { write_line("end\t%u", static_cast<unsigned>(how)); }

  private:
    template <class... Values>
    void write_line(const char* format, Values... values) {
        char line[16384];
        int length = snprintf(line, sizeof line - 1, format, values...);
        if (length >= static_cast<int>(sizeof line) - 1) length = sizeof line - 2;
        for (int i = 0; i < length; ++i) {
            if (line[i] == '\n') line[i] = ' ';
        }
        line[length++] = '\n';
        direct::call(SYS_write, fd_, direct::address(line), length);
    }

    int fd_ = -1;
    bool contexts_ = false;
};

text_layer text;

__attribute__((destructor)) void end_of_process() {
    if (!recording() || !is_own_process()) return;
    shapes::flush_streams(call_id::exit_flush);
    tell_end(ending::exit);
}

}  // namespace

const char* shared_folder() {
    return "";
}

bool can_start_layers() {
    return true;
}

void start_layers(layer_chain& layers) {
    const int saved = errno;
    layers.clear();
    if (text.start()) layers.add(text);
    errno = saved;
}

}  // namespace halcyon::calls
