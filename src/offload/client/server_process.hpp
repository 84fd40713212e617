#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/shared_memory.hpp"
#include "offload/client/client_session.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// What servers need of this process' environment. Read once, by the thread that opens the session: later servers are
/// started by another thread, while the simulation may be changing its environment.
struct launch_environment {
    std::string world;                   ///< HALCYON_SESSION: a server world that waits for clients; "" none
    std::string server;                  ///< HALCYON_SERVER: the program; "" the installed one
    std::vector<std::string> variables;  ///< of the server: all but what would make it a part of the job

    static launch_environment of_this_process();
};

/// Starts `halcyon-server` for `generation` of `session`, detached from this process in every respect: own session,
/// /dev/null as 0 to 2, no other descriptors, no MPI or preload variables. Returns when it listens.
/// Failure (unavailable): not found (the message lists where it was looked for), or it did not come up.
result<void> start_server(const launch_environment& environment, const std::string& session, uint32_t generation);

/// This client's connection to the server of its node, and the watch over it: a thread sleeps on the server's pidfd,
/// and when the server dies one client of the node starts the next, which takes over the segment.
class server_process final : public server_link {
  public:
    struct membership {
        std::string session;
        uint32_t client = 0;
        int max_restarts = 3;
        launch_environment environment;
    };

    /// The first client of a node: brings segment and document to a server that listens and has none.
    static result<std::unique_ptr<server_process>> bring(membership m, segment& shared, shared_memory document);
    /// The others: ask the server for both (the document is then link->document()).
    struct received {
        std::unique_ptr<server_process> link;
        descriptor segment;
    };
    static result<received> join(membership m);

    ~server_process() override;

    /// Begins to watch; `shared` must outlive this. Failure (system): this process can start no thread.
    result<void> watch(segment& shared);
    /// The session ends in order: a server that goes away now is not replaced.
    void stop_watching();

    /// The session document, as the server has it.
    [[nodiscard]] const shared_memory& document() const;

    [[nodiscard]] bool available() const override { return available_.load(std::memory_order_acquire); }
    result<void> share_spill_file(int fd) override;
    [[nodiscard]] uint32_t restarts() const override { return restarts_.load(std::memory_order_relaxed); }

  private:
    explicit server_process(membership m) : membership_(std::move(m)) {}

    result<void> connect(uint32_t generation, bool bring_segment, int segment_fd, int document_fd, received* into);
    void run();
    bool replace_server(uint32_t dead_generation);

    membership membership_;
    shared_memory document_;
    segment* segment_ = nullptr;
    std::mutex connection_;  ///< guards socket_, process_ and spill_fd_
    descriptor socket_, process_;
    int spill_fd_ = -1;
    descriptor stop_;
    std::atomic<bool> available_{true};
    std::atomic<uint32_t> restarts_{0};
    std::thread watcher_;
};

}  // namespace halcyon::offload
