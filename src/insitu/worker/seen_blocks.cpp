#include "insitu/worker/seen_blocks.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "offload/segment/spill.hpp"

namespace halcyon::insitu {

using namespace offload;

std::vector<block_view> seen_blocks::show(const std::vector<named_block>& named, uint64_t& unseen) {
    std::vector<block_view> views;
    views.reserve(named.size());
    for (const named_block& n : named) {
        const auto b = check_block(segment_, data_, n.client, n.entry);
        const auto data =
            b && b->sequence == n.sequence ? bytes_of(*b) : failure{error_kind::usage, "the block of another time", 0};
        if (!data) {
            ++unseen;
            continue;
        }
        views.push_back({&data_.variables[b->variable], b->iteration, document_.client_ranks[b->client], b->block,
                         b->shape, *data});
    }
    return views;
}

/// Of a spill file as much is mapped, so that it takes no memory of the plugin's.
result<std::span<const std::byte>> seen_blocks::bytes_of(const checked_block& b) {
    const auto bytes = static_cast<size_t>(b.shape.bytes);
    if (!b.in_spill) return std::span<const std::byte>(segment_.bytes_at(b.location), bytes);
    const auto file = spill_files_.find(b.client);
    if (file == spill_files_.end()) return failure{error_kind::unavailable, "no spill file", 0};
    if (auto there = spill_holds(file->second.get(), b.location, bytes); !there) return there.why();
    if (bytes == 0) return std::span<const std::byte>();
    void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file->second.get(), static_cast<off_t>(b.location));
    if (at == MAP_FAILED) return system_failure("a spill file", errno);
    mapped_.push_back({at, bytes});
    return std::span(static_cast<const std::byte*>(at), bytes);
}

void seen_blocks::let_go() {
    for (const mapping& m : mapped_) ::munmap(m.at, m.bytes);
    mapped_.clear();
}

}  // namespace halcyon::insitu
