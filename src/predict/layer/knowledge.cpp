#include "predict/layer/knowledge.hpp"

#include <stdio.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "calls/record/call_table.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"
#include "predict/grammar/file_check.hpp"
#include "predict/model/model_file.hpp"

namespace halcyon::predict {
namespace direct = calls::direct;

namespace {

/// Which model is a thread's own. Initial-exec and without destructor, as calls::thread_state.
struct own_model {
    uint32_t generation;  // of the process that it is of
    thread_model* model;  // null: there was no room
};
constinit thread_local own_model own __attribute__((tls_model("initial-exec"))) = {};

bool read_whole(int fd, std::span<unsigned char> into) {
    size_t got = 0;
    while (got < into.size()) {
        const ssize_t bytes = direct::read(fd, into.data() + got, into.size() - got);
        if (bytes <= 0) return false;
        got += static_cast<size_t>(bytes);
    }
    return true;
}

/// A file's bytes; minus an errno, which is EINVAL where it has none that could be read as a whole: a pipe, a device.
int64_t bytes_of_file(int fd) {
    struct stat found {};
    const long result = direct::call(SYS_fstat, fd, direct::address(&found));
    if (result != 0) return result;
    if (S_ISDIR(found.st_mode)) return -EISDIR;
    return S_ISREG(found.st_mode) ? found.st_size : -EINVAL;
}

/// 0, or an errno.
int write_whole(int fd, std::span<const unsigned char> from) {
    size_t put = 0;
    while (put < from.size()) {
        const ssize_t bytes = direct::pwrite(fd, from.data() + put, from.size() - put, static_cast<int64_t>(put));
        if (bytes <= 0) return bytes == 0 ? ENOSPC : static_cast<int>(-bytes);
        put += static_cast<size_t>(bytes);
    }
    return 0;
}

}  // namespace

/// Memory of the system that goes back to it.
class knowledge::pages {
  public:
    pages() = default;
    ~pages() {
        if (begin_ != nullptr) direct::call(SYS_munmap, direct::address(begin_), static_cast<long>(bytes_));
    }
    pages(const pages&) = delete;
    pages& operator=(const pages&) = delete;
    /// Once. False: there is none.
    [[nodiscard]] bool take(size_t bytes) {
        begin_ = static_cast<unsigned char*>(direct::map_memory(bytes));
        bytes_ = begin_ == nullptr ? 0 : bytes;
        return begin_ != nullptr;
    }
    [[nodiscard]] std::span<unsigned char> all() const { return {begin_, bytes_}; }

  private:
    size_t bytes_ = 0;
    unsigned char* begin_ = nullptr;
};

knowledge* knowledge::make(const model::settings& each) {
    void* const place = direct::map_memory(sizeof(knowledge));
    return place == nullptr ? nullptr : new (place) knowledge(each);
}

void knowledge::forget(knowledge* known) {
    for (kept_thread& kept : known->threads_) {
        thread_model* const one = kept.learnt.load();
        if (one == nullptr) continue;
        one->~thread_model();
        direct::call(SYS_munmap, direct::address(one), sizeof(thread_model));
    }
    known->~knowledge();
    direct::call(SYS_munmap, direct::address(known), sizeof(knowledge));
}

thread_model* knowledge::model_of(calls::thread_state& thread) {
    thread_model* const found = own.generation == thread.generation ? own.model : find_model(thread);
    if (found == nullptr) [[unlikely]]
        calls_beyond_.fetch_add(1, std::memory_order_relaxed);
    return found;
}

thread_model* knowledge::model_if_any(const calls::thread_state& thread) {
    return own.generation == thread.generation ? own.model : nullptr;
}

[[gnu::noinline]] thread_model* knowledge::find_model(calls::thread_state& thread) {
    const int id = direct::thread_id();
    own = {thread.generation, nullptr};
    for (kept_thread& kept : threads_) {
        int before = kept.id.load();
        // The same id: of a thread that has ended, since this one is new.
        if (before != 0 && before != id && !direct::has_ended(before)) continue;
        thread_model* held = kept.learnt.load();
        if (held != nullptr && held->is_broken()) continue;
        if (!kept.id.compare_exchange_strong(before, id)) continue;
        held = kept.learnt.load();
        if (held != nullptr)
            held->pass_to(thread.index);
        else
            kept.learnt = held = make_model(thread.index);
        own.model = held;
        return held;
    }
    threads_beyond_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
}

thread_model* knowledge::make_model(uint32_t thread) {
    void* const place = direct::map_memory(sizeof(thread_model));
    return place == nullptr ? nullptr : new (place) thread_model(each_, files_.names(), thread);
}

void knowledge::name_context(uint32_t id, std::span<const calls::context_frame> frames) {
    static char text[label_table::longest];
    const calls::patient_lock::guard here(labels_lock_);
    if (!here) return;
    size_t used = 0;
    for (const calls::context_frame& frame : frames) {
        const int added = snprintf(text + used, sizeof text - used, "%s%.*s+0x%llx", used == 0 ? "" : " ",
                                   static_cast<int>(frame.object.size()), frame.object.data(),
                                   static_cast<unsigned long long>(frame.offset));
        if (static_cast<size_t>(added) >= sizeof text - used) break;
        used += static_cast<size_t>(added);
    }
    static_cast<void>(labels_.name(label_table::subject::context, id, {text, used}));
}

bool knowledge::load(const char* path, bool& loaded, char* complaint, size_t complaint_bytes) {
    loaded = false;
    const int fd =
        calls::descriptors::open_out_of_the_way(path, O_RDONLY | O_NONBLOCK);  // a pipe would wait for its other end
    if (fd == -ENOENT) return true;
    const int64_t bytes = fd < 0 ? fd : bytes_of_file(fd);
    unsigned char begin[model_file::header_bytes];
    const size_t first = std::min<size_t>(static_cast<size_t>(std::max<int64_t>(bytes, 0)), sizeof begin);
    bool read = bytes >= 0 && read_whole(fd, {begin, first});
    // What does not begin as a model of its size is read no further, however large it is.
    std::optional<failure> why;
    if (read) why = model_file::check_header({begin, first}, static_cast<uint64_t>(bytes), path);
    pages text;
    if (read && !why) {
        direct::lseek(fd, 0, SEEK_SET);
        read = text.take(static_cast<size_t>(bytes)) && read_whole(fd, text.all());
    }
    if (fd >= 0) direct::close(fd);
    if (!read) {
        snprintf(complaint, complaint_bytes, "%s: cannot be read: %s; it is learnt anew", path,
                 strerrordesc_np(bytes < 0 ? static_cast<int>(-bytes) : EIO));
        return false;
    }
    model_file file;
    if (!why) why = model_file::open(text.all(), path, file);
    if (!why) {
        std::array<model*, most_threads> models{};
        uint32_t count = 0;
        for (; count < file.models() && count < most_threads; ++count) {
            thread_model* const one = make_model(count);
            if (one == nullptr) break;
            threads_[count].learnt = one;
            models[count] = one->hold();
        }
        why = file.load(files_.own_names(), labels_, {models.data(), count});
        for (uint32_t i = 0; i < count; ++i) threads_[i].learnt.load()->release();
        loaded = !why && count > 0;
    }
    if (why) snprintf(complaint, complaint_bytes, "%s; it is learnt anew", why->message.c_str());
    return !why;
}

/// Other threads may go on while the process ends: meanwhile they name nothing.
int knowledge::write_down(std::span<const model* const> models, pages& to) {
    const calls::patient_lock::guard names(files_.lock(), calls::patient_lock::patience::of_the_end);
    if (!names) return EBUSY;
    const calls::patient_lock::guard labels(labels_lock_, calls::patient_lock::patience::of_the_end);
    if (!labels) return EBUSY;
    for (uint16_t i = 0; i < static_cast<uint16_t>(calls::call_id::count); ++i) {
        const char* const name = calls::functions[i].name;
        static_cast<void>(labels_.name(label_table::subject::function, call_name_number(name), name));
    }
    const process_models all{files_.names(), labels_, models};
    const size_t bytes = saved_bytes(all);
    if (bytes > largest_file_bytes) return EFBIG;
    return to.take(bytes) && predict::save(all, to.all()) ? 0 : ENOMEM;
}

int knowledge::save(const char* path) {
    std::array<const model*, most_threads> models{};
    std::array<thread_model*, most_threads> held{};
    uint32_t count = 0;
    for (kept_thread& kept : threads_) {
        thread_model* const one = kept.learnt.load();
        if (one == nullptr || (models[count] = one->hold()) == nullptr) continue;
        held[count++] = one;
    }
    pages text;
    int error = write_down({models.data(), count}, text);
    for (uint32_t i = 0; i < count; ++i) held[i]->release();
    if (error != 0) return error;
    static char hidden[1100];
    snprintf(hidden, sizeof hidden, "%s.%d", path, direct::process_id());
    const int fd = calls::descriptors::open_out_of_the_way(hidden, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0) return -fd;
    error = write_whole(fd, text.all());
    direct::close(fd);
    if (error == 0)
        error = static_cast<int>(
            -direct::call(SYS_renameat2, AT_FDCWD, direct::address(hidden), AT_FDCWD, direct::address(path), 0));
    if (error != 0) direct::unlink(hidden);
    return error;
}

}  // namespace halcyon::predict
