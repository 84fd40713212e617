#include "logfs/api/open_handles.hpp"

#include <pthread.h>

#include <cerrno>
#include <utility>

namespace halcyon::logfs::api {

open_handles& open_handles::of_process() {
    // Never destroyed: threads may still use handles when the process ends.
    static auto* const all = new open_handles;
    return *all;
}

open_handles::open_handles() {
    ::pthread_atfork([] { of_process().hold(); }, [] { of_process().let_go(); }, [] { of_process().forget(); });
}

open_handles::place* open_handles::place_of(uint64_t handle) {
    const uint64_t number = handle % most_places;
    place* const chunk = chunks_[number / in_chunk].load(std::memory_order_acquire);
    return handle == 0 || chunk == nullptr ? nullptr : chunk + number % in_chunk;
}

open_handles::place* open_handles::free_place() {
    if (free_.empty()) {
        if (made_ == most_places) return nullptr;
        if (made_ % in_chunk == 0) {
            free_.reserve(made_ + in_chunk);  // close() puts them back without asking for memory
            chunks_[made_ / in_chunk].store(new place[in_chunk], std::memory_order_release);
        }
        place* const at = chunks_[made_ / in_chunk].load(std::memory_order_relaxed) + made_ % in_chunk;
        at->next_handle = made_ == 0 ? most_places : made_;  // 0 is no handle
        ++made_;
        return at;
    }
    place* const at = free_.back();
    free_.pop_back();
    return at;
}

result<uint64_t> open_handles::add(std::unique_ptr<opened_file> file) {
    const std::lock_guard lock(mutex_);
    place* const at = free_place();
    if (at == nullptr)
        return system_failure("halcyon_logfs_open: " + std::to_string(most_places) + " containers are open", EMFILE);
    const uint64_t handle = at->next_handle;
    at->next_handle += most_places;
    at->file = std::move(file);
    at->handle.store(handle);
    return handle;
}

open_handles::use::~use() {
    if (in_ != nullptr) end(*static_cast<place*>(in_));
}

log_file& open_handles::use::file() const {
    return static_cast<place*>(in_)->file->file;
}

void open_handles::end(place& at) {
    if (at.uses.fetch_sub(1) == 1 && at.handle.load() == 0) at.uses.notify_all();
}

result<void> open_handles::begin(use& made, const char* call, uint64_t handle) {
    place* const at = place_of(handle);
    if (at == nullptr) return no_handle(call, handle);
    at->uses.fetch_add(1);
    if (at->handle.load() == handle) {
        made.in_ = at;
        return {};
    }
    end(*at);
    return no_handle(call, handle);
}

failure open_handles::no_handle(const char* call, uint64_t handle) {
    place* const at = place_of(handle);
    const bool is_parents = at != nullptr && at->of_parent.load() == handle;
    const char* const why =
        handle == 0  ? "the handle is null; call halcyon_logfs_open first"
        : is_parents ? "this process was forked off the one that opened the container; open it here"
                     : "this handle is not open: it was given to halcyon_logfs_close, or is none of halcyon_logfs_open";
    return {error_kind::usage, std::string(call) + ": " + why, EBADF};
}

result<void> open_handles::close(const char* call, uint64_t handle, bool& is_closed) {
    place* const at = place_of(handle);
    uint64_t expected = handle;
    is_closed = at != nullptr && at->handle.compare_exchange_strong(expected, 0);
    if (!is_closed) return no_handle(call, handle);
    for (uint32_t others = at->uses.load(); others != 0; others = at->uses.load()) at->uses.wait(others);
    auto closed = at->file->file.close();
    const std::lock_guard lock(mutex_);
    at->file.reset();
    free_.push_back(at);
    return closed;
}

/// With the lock held.
template <class Work>
void open_handles::each_open(Work work) {
    for (uint64_t number = 0; number < made_; ++number) {
        place& at = chunks_[number / in_chunk].load(std::memory_order_relaxed)[number % in_chunk];
        if (at.file != nullptr) work(at);
    }
}

void open_handles::hold() {
    mutex_.lock();
    each_open([](place& at) { at.file->file.hold(); });
}

void open_handles::let_go() {
    each_open([](place& at) { at.file->file.let_go(); });
    mutex_.unlock();
}

/// Frees nothing: what allocates memory may have been in the middle of something.
void open_handles::forget() {
    each_open([](place& at) {
        at.file->file.abandon();
        if (const uint64_t had = at.handle.exchange(0); had != 0) at.of_parent.store(had);
        at.uses.store(0);
    });
    mutex_.unlock();
}

}  // namespace halcyon::logfs::api
