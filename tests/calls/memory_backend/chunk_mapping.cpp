#include "calls/memory_backend/chunk_mapping.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls::in_memory {
namespace {

constexpr int64_t page_bytes = 4096;

bool is_error(long result) {
    return result < 0 && result > -4096;
}

int64_t to_pages(int64_t bytes) {
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

int64_t map_chunks(const space& of, int memory, const file_data& data, const inode& node, void* at, int64_t bytes,
                   int protection, int flags, int64_t offset) {
    const auto* const start = reinterpret_cast<const std::byte*>(&of);
    const int64_t length = to_pages(bytes);
    const int kind = flags & MAP_TYPE;
    const long region = direct::call(SYS_mmap, direct::address(at), length, protection,
                                     (flags & ~MAP_TYPE) | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (is_error(region)) return region;
    const int64_t end = std::min(offset + length, to_pages(node.size.load(std::memory_order_acquire)));
    for (int64_t from = offset; from < end;) {
        const std::byte* const first = data.chunk(node, from / chunk_bytes);
        int64_t to = (from / chunk_bytes + 1) * chunk_bytes;
        if (first == nullptr) {  // punched out a moment ago, never: chunks stay while the file is open
            from = to;
            continue;
        }
        while (to < end &&
               data.chunk(node, to / chunk_bytes) == first + (to / chunk_bytes - from / chunk_bytes) * chunk_bytes)
            to += chunk_bytes;
        to = std::min(to, end);
        const int64_t in_memory = first + from % chunk_bytes - start;
        const long mapped = direct::call(SYS_mmap, region + (from - offset), to - from, protection, kind | MAP_FIXED,
                                         memory, in_memory);
        if (is_error(mapped)) {
            direct::call(SYS_munmap, region, length);
            return mapped;
        }
        from = to;
    }
    return region;
}

}  // namespace halcyon::calls::in_memory
