#include "offload/store/contents/scratch.hpp"

#include <new>

namespace halcyon::offload {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

void scratch::free_bytes::operator()(std::byte* p) const {
    ::operator delete(p, alignment);
}

std::span<std::byte> scratch::take(size_t bytes) {
    if (bytes > capacity_) {
        memory_.reset();
        capacity_ = 0;
        memory_.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
        capacity_ = bytes;
    }
    return {memory_.get(), bytes};
}

}  // namespace halcyon::offload
