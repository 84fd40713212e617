#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/shared_memory.hpp"
#include "offload/client/server_link.hpp"
#include "offload/client/succession.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// This client's link to the server of its node, and the watch over it: a thread sleeps on the server's process, and
/// when that ends it gets the next one (see succession), which takes over the segment.
class server_process final : public server_link {
  public:
    /// The first client of a node: brings segment and document to a server that listens and has none.
    static result<std::unique_ptr<server_process>> bring(succession::about a, segment& shared, shared_memory document);
    /// The others: ask the server for both (the document is then link->document()).
    struct received {
        std::unique_ptr<server_process> link;
        descriptor segment;
    };
    static result<received> join(succession::about a);

    ~server_process() override;

    /// Begins to watch; `shared` must outlive this. Failure (system): this process can start no thread.
    result<void> watch(segment& shared);
    /// The session ends in order: a server that goes away now is not replaced.
    void stop_watching();

    /// The session document, as the server has it.
    [[nodiscard]] const shared_memory& document() const { return document_; }

    [[nodiscard]] bool available() const override { return available_.load(std::memory_order_acquire); }
    [[nodiscard]] bool has_server() override;
    result<void> share_spill_file(int fd) override;
    bool end_server(uint32_t generation) override;
    result<descriptor> take_turn() override;

  private:
    explicit server_process(succession::about a) : about_(std::move(a)) {}

    result<server_connection::reply> greet(hello::purpose_kind purpose, std::span<const int> luggage);
    void run();
    void adopt(server_connection next);
    void hand_over_spill_file() const;

    succession::about about_;
    shared_memory document_;
    segment* segment_ = nullptr;
    std::mutex connection_;  ///< guards server_ and spill_fd_
    server_connection server_;
    int spill_fd_ = -1;
    descriptor stop_;
    std::atomic<bool> available_{true};
    std::thread watcher_;
};

}  // namespace halcyon::offload
