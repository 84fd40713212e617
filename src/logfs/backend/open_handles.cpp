#include "logfs/backend/open_handles.hpp"

#include <algorithm>
#include <new>

#include "calls/backends/hidden_descriptors.hpp"
#include "logfs/backend/direct_files.hpp"

namespace halcyon::logfs {

calls::file_backend::handle open_handles::add(log_node* node, int directory, int flags) {
    for (uint32_t tries = 0; tries < most; ++tries) {
        const uint32_t number = next_.fetch_add(1, std::memory_order_relaxed) % most;
        open_handle& entry = all_[number];
        if (entry.is_taken.exchange(true, std::memory_order_acquire)) continue;
        entry.flags = flags;
        entry.directory = directory;
        entry.node = node;
        entry.listing = nullptr;
        return uint64_t{entry.generation.load(std::memory_order_relaxed)} << 32 | (number + 1);
    }
    return 0;
}

void open_handles::drop(calls::file_backend::handle handle) {
    open_handle& entry = of(handle);
    entry.generation.fetch_add(1, std::memory_order_release);
    if (entry.directory >= 0) {
        const held_lock alone(entry.listing_lock);
        calls::hidden_descriptors::close(entry.directory);
        if (entry.listing != nullptr) direct_files().return_pages(entry.listing, sizeof(directory_listing));
        entry.listing = nullptr;
    }
    entry.node = nullptr;
    entry.is_taken.store(false, std::memory_order_release);
}

void open_handles::after_fork() {
    const uint32_t used = std::min(next_.load(std::memory_order_relaxed), most);
    for (uint32_t i = 0; i < used; ++i) {
        open_handle& entry = all_[i];
        if (!entry.is_taken.load(std::memory_order_relaxed)) continue;
        entry.listing_lock.forget_others();
        if (entry.listing != nullptr) new (entry.listing) directory_listing;
    }
}

}  // namespace halcyon::logfs
