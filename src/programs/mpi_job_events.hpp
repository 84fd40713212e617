#pragma once

#include <mpi.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "base/shared_layout.hpp"
#include "offload/server/job_events.hpp"
#include "programs/event_order.hpp"

namespace halcyon {

/// job_events over MPI-3 non-blocking collectives, between the servers of one MPI world.
///
/// Protocol. Server 0 gives the events their order (event_order). The others send it what happens to them as small
/// messages, one `notice` each, which MPI keeps in the order of sending; its own notices it takes directly. What it
/// decided goes out as batches through MPI_Ibcast, one at a time; the others have the next MPI_Ibcast posted at all
/// times, and as collective calls match in order, every server sees the same notices in the same order. The last one
/// is `end`: everybody has finished. Each server answers it with `bye`, so that no message is left without receiver.
///
/// Threads. Only the one that runs carry() calls MPI (MPI_THREAD_FUNNELED). The others put notices into `outbox_` and
/// wake it. It polls MPI, at first every 50 µs, then more and more rarely, every 2 ms when nothing happens: an event
/// may take that long for each hop of the broadcast, and an idle world leaves its cores alone. `mutex_` guards
/// everything that is shared; `delivery_` is held during calls of the handler.
class mpi_job_events final : public offload::job_events {
  public:
    /// Collective over `world`, on the thread that initialised MPI. `abandoned` is called on the thread of carry()
    /// when no client can come any more, perhaps more than once.
    mpi_job_events(MPI_Comm world, std::function<void()> abandoned);
    ~mpi_job_events() override;
    mpi_job_events(const mpi_job_events&) = delete;
    mpi_job_events& operator=(const mpi_job_events&) = delete;

    void begin(int servers) override;
    void raise(uint32_t event_id, int64_t iteration) override;
    void on_event(handler told) override;
    bool finish(int64_t handled) override;
    /// Sets who is told of `want` and `meet`, at the same place of the order on every server of the world, on the
    /// thread of carry(): all may call MPI together. Before carry().
    void on_own(std::function<void(const notice&)> told) { told_own_ = std::move(told); }
    /// Tells every server of the world about store `store`.
    void want(uint32_t store, int64_t iteration);
    /// When all servers of the session have come to meet for `store` (or finished), every server of the world is told.
    void meet(uint32_t store);
    /// This server never had a client: the others do not wait for it.
    void leave();
    /// Whoever started the world is gone: clients that are not there yet will not come. Called on server 0.
    void abandon();

    /// Carries events until all servers have finished or left; on the thread that initialised MPI.
    void carry();
    /// On server 0, after carry(): whether any server had clients.
    [[nodiscard]] bool had_clients() const { return order_.begun(); }
    /// Waits, without using the core, until all servers have come here. Same thread, after carry().
    void wait_for_others();

  private:
    static constexpr size_t most_per_batch = 40;
    struct batch {
        uint64_t count = 0;
        std::array<notice, most_per_batch> notices;
    };
    static_assert(has_copied_layout<batch, 8 + most_per_batch * sizeof(notice), 8>());

    void propose(notice::kind what, uint32_t event_id = 0, int64_t iteration = 0, int servers = 0);
    bool send_proposals();
    void send(const notice& n);
    bool take_proposals();
    bool distribute();
    bool take_announcements();
    void post_announcement();
    void deliver(const batch& b);
    bool hand_over();
    void part();
    void nap(int64_t& nap_ns);
    bool reap_sends();

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
    std::function<void()> abandoned_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<notice> outbox_;
    int64_t finished_with_ = -1;  ///< events that this server had run when it said so last
    int64_t delivered_ = 0;       ///< events that its handler was told of
    bool ended_ = false;

    std::mutex delivery_;
    handler told_;
    bool wanted_ = true;  ///< false once the handler was taken away

    // Of the thread of carry() alone.
    struct sending {
        notice what;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    std::deque<sending> sends_;
    std::function<void(const notice&)> told_own_;
    std::deque<notice> received_;  ///< in the common order, not yet handed over
    bool last_received_ = false;
    notice proposal_;
    MPI_Request proposal_request_ = MPI_REQUEST_NULL;
    batch announcement_;
    MPI_Request announcement_request_ = MPI_REQUEST_NULL;
    event_order order_;  ///< server 0
    int byes_ = 0;
};

}  // namespace halcyon
