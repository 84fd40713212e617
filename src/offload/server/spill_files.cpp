#include "offload/server/spill_files.hpp"

#include <utility>

#include "offload/segment/spill.hpp"

namespace halcyon::offload {

bool spill_files::bring(uint32_t client, descriptor file) {
    files_[client] = std::move(file);
    lost_[client] = !files_[client];
    return !lost_[client];
}

bool spill_files::are_here(const client_roster& clients) const {
    for (uint32_t c = 0; c < clients.size(); ++c)
        if (needed_[c] && !clients.is_silent(c) && !lost_[c] && !files_[c]) return false;
    return true;
}

result<std::vector<std::byte>> spill_files::read(const checked_block& b) const {
    const int fd = files_[b.client].get();
    const auto bytes = static_cast<size_t>(b.shape.bytes);
    // The client states the block's size; the server checks it before it allocates.
    if (auto there = spill_holds(fd, b.location, bytes); !there) return there.why();
    std::vector<std::byte> data(bytes);
    if (auto got = read_spilled(fd, b.location, data.data(), bytes); !got) return got.why();
    return data;
}

void spill_files::discard(const checked_block& b) const {
    discard_spilled(files_[b.client].get(), b.location, static_cast<uint64_t>(b.shape.bytes));
}

}  // namespace halcyon::offload
