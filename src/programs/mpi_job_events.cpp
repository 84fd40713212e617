#include "programs/mpi_job_events.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace halcyon {
namespace {

constexpr int proposal_tag = 1;
constexpr int64_t shortest_nap_ns = 50'000, longest_nap_ns = 2'000'000;

bool completed(MPI_Request& request) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
}

}  // namespace

mpi_job_events::mpi_job_events(MPI_Comm world, std::function<void()> abandoned)
    : abandoned_(std::move(abandoned)), order_([world] {
          int size = 0;
          MPI_Comm_size(world, &size);
          return size;
      }()) {
    MPI_Comm_dup(world, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
}

mpi_job_events::~mpi_job_events() {
    MPI_Comm_free(&comm_);
}

// ---- any thread ---------------------------------------------------------------------------------------------------

void mpi_job_events::propose(notice::kind what, uint32_t event_id, int64_t iteration, int servers) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    outbox_.push_back({what, event_id, iteration, rank_, servers, 0});
    changed_.notify_all();
}

void mpi_job_events::begin(int servers) {
    propose(notice::kind::begin, 0, 0, servers);
}
void mpi_job_events::raise(uint32_t event_id, int64_t iteration) {
    propose(notice::kind::raise, event_id, iteration);
}
void mpi_job_events::want(uint32_t store, int64_t iteration) {
    propose(notice::kind::want, store, iteration);
}
void mpi_job_events::meet(uint32_t store) {
    propose(notice::kind::meet, store);
}
void mpi_job_events::leave() {
    propose(notice::kind::leave);
}
void mpi_job_events::abandon() {
    propose(notice::kind::abandon);
}

void mpi_job_events::on_event(handler told) {
    const std::lock_guard lock(delivery_);
    wanted_ = static_cast<bool>(told);
    told_ = std::move(told);
}

bool mpi_job_events::finish(int64_t handled) {
    std::unique_lock lock(mutex_);
    if (handled > finished_with_ && !ended_) {
        outbox_.push_back({notice::kind::finish, 0, 0, rank_, 0, handled});
        finished_with_ = handled;
        changed_.notify_all();
    }
    changed_.wait(lock, [&] { return ended_ || delivered_ > handled; });
    return delivered_ <= handled;
}

// ---- the thread that calls MPI ------------------------------------------------------------------------------------

void mpi_job_events::carry() {
    const auto receive = [this] {
        MPI_Irecv(&proposal_, sizeof proposal_, MPI_BYTE, MPI_ANY_SOURCE, proposal_tag, comm_, &proposal_request_);
    };
    if (rank_ == 0 && size_ > 1) receive();
    if (rank_ != 0) post_announcement();
    int64_t nap_ns = shortest_nap_ns;
    while (true) {
        bool any = send_proposals();
        any = reap_sends() || any;
        if (rank_ == 0) {
            any = take_proposals() || any;
            any = distribute() || any;
        } else {
            any = take_announcements() || any;
        }
        any = hand_over() || any;
        if (last_received_ && received_.empty()) break;
        if (any)
            nap_ns = shortest_nap_ns;
        else
            nap(nap_ns);
    }
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        outbox_.clear();
        changed_.notify_all();
    }
    part();
}

bool mpi_job_events::send_proposals() {
    std::deque<notice> out;
    {
        const std::lock_guard lock(mutex_);
        out.swap(outbox_);
    }
    for (const notice& n : out) {
        if (rank_ == 0)
            order_.take(n);
        else
            send(n);
    }
    return !out.empty();
}

void mpi_job_events::send(const notice& n) {
    sends_.push_back({n, MPI_REQUEST_NULL});  // a deque: the others stay where MPI reads them
    MPI_Isend(&sends_.back().what, sizeof(notice), MPI_BYTE, 0, proposal_tag, comm_, &sends_.back().request);
}

bool mpi_job_events::reap_sends() {
    bool any = false;
    while (!sends_.empty() && completed(sends_.front().request)) {
        sends_.pop_front();
        any = true;
    }
    return any;
}

bool mpi_job_events::take_proposals() {
    bool any = false;
    while (proposal_request_ != MPI_REQUEST_NULL && completed(proposal_request_)) {
        any = true;
        if (proposal_.what == notice::kind::bye)
            ++byes_;
        else
            order_.take(proposal_);
        if (byes_ < size_ - 1)
            MPI_Irecv(&proposal_, sizeof proposal_, MPI_BYTE, MPI_ANY_SOURCE, proposal_tag, comm_, &proposal_request_);
    }
    return any;
}

/// Server 0: the next batch leaves when the one before has.
bool mpi_job_events::distribute() {
    if (announcement_request_ != MPI_REQUEST_NULL) {
        if (!completed(announcement_request_)) return false;
        deliver(announcement_);
        return true;
    }
    auto& decided = order_.decided();
    if (decided.empty() || last_received_) return false;
    announcement_.count = std::min(decided.size(), most_per_batch);
    for (size_t i = 0; i < announcement_.count; ++i) {
        announcement_.notices[i] = decided.front();
        decided.pop_front();
    }
    post_announcement();
    return true;
}

void mpi_job_events::post_announcement() {
    MPI_Ibcast(&announcement_, sizeof announcement_, MPI_BYTE, 0, comm_, &announcement_request_);
}

bool mpi_job_events::take_announcements() {
    if (announcement_request_ == MPI_REQUEST_NULL || !completed(announcement_request_)) return false;
    deliver(announcement_);
    if (!last_received_) post_announcement();
    return true;
}

void mpi_job_events::deliver(const batch& b) {
    for (size_t i = 0; i < b.count; ++i) {
        const notice& n = b.notices[i];
        switch (n.what) {
            case notice::kind::raise:
                received_.push_back(n);
                break;
            case notice::kind::want:
            case notice::kind::meet:
                if (told_own_) told_own_(n);
                break;
            case notice::kind::abandon:
                abandoned_();
                break;
            case notice::kind::end:
                last_received_ = true;
                break;
            default:
                break;
        }
    }
}

/// Tells the handler. Events stay here until there is one.
bool mpi_job_events::hand_over() {
    if (received_.empty()) return false;
    const std::lock_guard lock(delivery_);
    // At the end whoever wanted to be told has said so.
    if (!told_ && wanted_ && !last_received_) return false;
    if (told_) {
        for (const notice& n : received_) told_(n.event_id, n.iteration, n.origin == rank_);
        const std::lock_guard counting(mutex_);
        delivered_ += static_cast<int64_t>(received_.size());
        changed_.notify_all();
    }
    received_.clear();
    return true;
}

/// After `end`: what is still on its way is received, so that nothing is left when MPI shuts down.
void mpi_job_events::part() {
    int64_t nap_ns = shortest_nap_ns;
    if (rank_ != 0) send({notice::kind::bye, 0, 0, rank_, 0, 0});
    while (rank_ == 0 ? byes_ < size_ - 1 : !sends_.empty()) {
        const bool any = rank_ == 0 ? take_proposals() : reap_sends();
        if (any)
            nap_ns = shortest_nap_ns;
        else
            nap(nap_ns);
    }
    abandoned_();  // who still waits for a client waits in vain
}

void mpi_job_events::nap(int64_t& nap_ns) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(nap_ns), [this] { return !outbox_.empty(); });
    nap_ns = std::min(2 * nap_ns, longest_nap_ns);
}

void mpi_job_events::wait_for_others() {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm_, &all);
    while (!completed(all)) std::this_thread::sleep_for(std::chrono::nanoseconds(longest_nap_ns));
}

}  // namespace halcyon
