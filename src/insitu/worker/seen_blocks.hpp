#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "insitu/protocol/worker_messages.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/segment/session_document.hpp"
#include "offload/store/store.hpp"

namespace halcyon::insitu {

/// The blocks that a worker is shown: in the segment, and in the spill files of clients. It checks each itself: what
/// others wrote into shared memory is not trusted here either.
class seen_blocks {
  public:
    seen_blocks(const offload::segment& shared, const offload::model& data, const offload::session_document& document)
        : segment_(shared), data_(data), document_(document) {}
    ~seen_blocks() { let_go(); }
    seen_blocks(const seen_blocks&) = delete;
    seen_blocks& operator=(const seen_blocks&) = delete;

    /// The spill file of a client.
    void bring(uint32_t client, descriptor file) { spill_files_[client] = std::move(file); }
    /// Shows what can be seen of them, until let_go(). `unseen`: counts the others.
    std::vector<offload::block_view> show(const std::vector<offload::named_block>& named, uint64_t& unseen);
    void let_go();

  private:
    result<std::span<const std::byte>> bytes_of(const offload::checked_block& b);

    const offload::segment& segment_;
    const offload::model& data_;
    const offload::session_document& document_;
    std::map<uint32_t, descriptor> spill_files_;
    struct mapping {
        void* at;
        size_t bytes;
    };
    std::vector<mapping> mapped_;  ///< pieces of spill files
};

}  // namespace halcyon::insitu
