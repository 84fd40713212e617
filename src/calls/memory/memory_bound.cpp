#include "calls/memory/memory_bound.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

namespace {

constexpr size_t page = 4096;
constexpr size_t slab_bytes = size_t{64} << 10;
constexpr size_t first_slab_bytes = size_t{16} << 10;
constexpr size_t smallest = 32;
constexpr size_t largest = size_t{32} << 10;  // of those that are cut from slabs
constexpr size_t classes = 41;                // 32, 40, 48, 56, 64, 80, … 32,768

struct free_block {
    free_block* next;
};
struct alignas(16) slab {
    slab* next;
    size_t bytes;
};

constexpr size_t whole_pages(size_t bytes) {
    return (bytes + page - 1) / page * page;
}

/// Which step: sizes below 64 are steps of 8, below 128 of 16, and so on.
size_t class_of(size_t bytes) {
    bytes = std::max(bytes, smallest);
    const auto doubling = static_cast<size_t>(std::bit_width((bytes - 1) / smallest));
    if (doubling == 0) return 0;
    const size_t below = smallest << (doubling - 1);
    const size_t step = below / 4;
    return (doubling - 1) * 4 + (bytes - below + step - 1) / step;
}

size_t bytes_of(size_t size_class) {
    const size_t below = smallest << size_class / 4;
    return below + below / 4 * (size_class % 4);
}

// Past the C library, whose mmap is interposed like others: a call of ours would be counted as one that was not seen.

#if defined(__SANITIZE_THREAD__)
// Only from the C library's functions does tsan learn that memory is somebody else's from now on.
void* map(size_t bytes) {
    void* const block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? nullptr : block;
}

void unmap(void* block, size_t bytes) {
    ::munmap(block, bytes);
}

void* remap(void* block, size_t now, size_t then) {
    void* const moved = map(then);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(now, then));
    unmap(block, now);
    return moved;
}
#else
void* map(size_t bytes) {
    return direct::map_memory(bytes);
}

void unmap(void* block, size_t bytes) {
    direct::call(SYS_munmap, direct::address(block), static_cast<long>(bytes));
}

/// Null when there is no memory: it is as it was then.
void* remap(void* block, size_t now, size_t then) {
    const long moved = direct::call(SYS_mremap, direct::address(block), static_cast<long>(now), static_cast<long>(then),
                                    MREMAP_MAYMOVE);
    return moved < 0 && moved > -4096 ? nullptr : reinterpret_cast<void*>(moved);
}
#endif

}  // namespace

struct alignas(16) memory_bound::heap {
    free_block* free[classes] = {};
    slab* slabs = nullptr;
    char* rest = nullptr;
    size_t rest_bytes = 0;

    [[nodiscard]] bool add_slab(size_t bytes) {
        auto* added = static_cast<slab*>(map(bytes));
        if (added == nullptr) return false;
        *added = {slabs, bytes};
        slabs = added;
        rest = reinterpret_cast<char*>(added) + sizeof(slab);
        rest_bytes = bytes - sizeof(slab);
        return true;
    }
    [[nodiscard]] void* cut(size_t bytes) {
        bytes = (bytes + 15) / 16 * 16;
        if (rest_bytes < bytes && !add_slab(slab_bytes)) return nullptr;
        char* const block = rest;
        rest += bytes;
        rest_bytes -= bytes;
        return block;
    }
};

memory_bound::~memory_bound() {
    if (heap_ == nullptr) return;
    for (slab* last = heap_->slabs; last != nullptr;) {  // the heap lies in the first one, the last to go
        slab* const next = last->next;
        unmap(last, last->bytes);
        last = next;
    }
}

memory_bound::heap* memory_bound::outermost_heap() {
    if (outer_ != nullptr) return outer_->outermost_heap();
    if (heap_ == nullptr) {
        heap begun;
        if (!begun.add_slab(first_slab_bytes)) return nullptr;
        heap_ = new (begun.cut(sizeof(heap))) heap(begun);
    }
    return heap_;
}

bool memory_bound::count(size_t bytes) {
    if (bytes > limit_ - used_) return false;
    if (outer_ != nullptr && !outer_->count(bytes)) return false;
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return true;
}

void memory_bound::uncount(size_t bytes) {
    used_ -= bytes;
    if (outer_ != nullptr) outer_->uncount(bytes);
}

void* memory_bound::take(size_t bytes) {
    if (bytes > largest) {
        const size_t pages = whole_pages(bytes);
        if (!count(pages)) return nullptr;
        void* const block = map(pages);
        if (block == nullptr) uncount(pages);
        return block;
    }
    const size_t which = class_of(bytes);
    const size_t size = bytes_of(which);
    heap* const source = outermost_heap();
    if (source == nullptr || !count(size)) return nullptr;
    if (free_block* const block = source->free[which]; block != nullptr) {
        source->free[which] = block->next;
        return block;
    }
    void* const block = source->cut(size);
    if (block == nullptr) uncount(size);
    return block;
}

void memory_bound::give_back(void* block, size_t bytes) {
    if (block == nullptr) return;
    if (bytes > largest) {
        unmap(block, whole_pages(bytes));
        uncount(whole_pages(bytes));
        return;
    }
    const size_t which = class_of(bytes);
    uncount(bytes_of(which));
    heap* const source = outermost_heap();
    auto* const freed = static_cast<free_block*>(block);
    freed->next = source->free[which];
    source->free[which] = freed;
}

void* memory_bound::resize(void* block, size_t bytes, size_t wanted) {
    if (block != nullptr && bytes > largest && wanted > largest) {
        const size_t now = whole_pages(bytes);
        const size_t then = whole_pages(wanted);
        if (then > now && !count(then - now)) return nullptr;
        void* const moved = remap(block, now, then);
        if (moved == nullptr) {
            if (then > now) uncount(then - now);
            return nullptr;
        }
        if (then < now) uncount(now - then);
        return moved;
    }
    void* const moved = take(wanted);
    if (moved == nullptr) return nullptr;
    if (block != nullptr) std::memcpy(moved, block, std::min(bytes, wanted));
    give_back(block, bytes);
    return moved;
}

}  // namespace halcyon::calls
