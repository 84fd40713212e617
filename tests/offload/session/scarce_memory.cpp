#include "offload/session/scarce_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace halcyon::testing {

thread_local int64_t allocations_left = 0;

}  // namespace halcyon::testing

namespace {

using halcyon::testing::allocations_left;

void* take(std::size_t bytes, std::size_t alignment) {
    if (allocations_left > 0 && --allocations_left == 0) throw std::bad_alloc();
    void* memory = nullptr;
    if (::posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max<std::size_t>(bytes, 1)) != 0)
        throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
    return take(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return take(bytes, static_cast<std::size_t>(alignment));
}
// Those of the C++ library go through the ones above; those of a sanitizer would not.
void* operator new(std::size_t bytes, const std::nothrow_t& /*how*/) noexcept {
    try {
        return take(bytes, alignof(std::max_align_t));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
