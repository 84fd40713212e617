#include "programs/shared_file/world_files.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "programs/shared_file/write_together.hpp"

namespace halcyon {

using namespace offload;

namespace {

communicator duplicate(MPI_Comm comm) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &own);
    return communicator(own);
}

}  // namespace

world_files::world_files(MPI_Comm world, mpi_job_events& events) : world_(duplicate(world)), events_(events) {
    events_.on_own([this](const notice& n) { hear(n); });
}

void world_files::serve(std::function<void(uint32_t, int64_t)> wanted) {
    const std::lock_guard lock(mutex_);
    serving_ = true;
    wanted_ = std::move(wanted);
    for (const auto& [store, iteration] : wanted_before_) wanted_(store, iteration);
    wanted_before_.clear();
}

void world_files::want(uint32_t store, int64_t iteration) {
    events_.want(store, iteration);
}

void world_files::offer(shared_offer what) {
    const uint32_t store = what.store;
    {
        const std::lock_guard lock(mutex_);
        offers_.insert_or_assign(store, std::move(what));
    }
    events_.meet(store);
}

bool world_files::withdraw(uint32_t store) {
    const std::lock_guard lock(mutex_);
    return offers_.erase(store) > 0;
}

void world_files::leave() {
    const std::lock_guard lock(mutex_);
    serving_ = false;
    wanted_ = nullptr;
}

void world_files::hear(const notice& n) {
    if (n.what == notice::kind::meet) return meet(n.event_id);
    const std::lock_guard lock(mutex_);
    int64_t& before = wanted_before_.try_emplace(n.event_id, -1).first->second;
    before = std::max(before, n.iteration);
    if (wanted_) wanted_(n.event_id, n.iteration);
}

void world_files::meet(uint32_t store) {
    std::optional<shared_offer> mine;
    int state[2] = {0, 0};  // serves, has an offer
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = offers_.find(store); found != offers_.end()) {
            mine = std::move(found->second);
            offers_.erase(found);
        }
        state[0] = serving_ ? 1 : 0;
        state[1] = mine ? 1 : 0;
    }
    std::vector<int> all(2 * static_cast<size_t>(world_.size()));
    MPI_Allgather(state, 2, MPI_INT, all.data(), 2, MPI_INT, world_.get());
    bool ready = true;
    for (size_t i = 0; i < all.size(); i += 2) ready = ready && (all[i] == 0 || all[i + 1] != 0);
    if (!ready) {
        shared_outcome again;
        if (mine) mine->done(again);
        return;
    }
    MPI_Comm with_offers = MPI_COMM_NULL;
    MPI_Comm_split(world_.get(), mine ? 0 : MPI_UNDEFINED, world_.rank(), &with_offers);
    const communicator writers(with_offers);
    if (!mine) return;
    shared_outcome outcome;
    outcome.begin_ns = realtime_ns();
    write_together(writers.get(), *mine, outcome);
    outcome.end_ns = realtime_ns();
    mine->done(outcome);
}

}  // namespace halcyon
