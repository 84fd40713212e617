#include "insitu/workers/plugin_workers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/clock.hpp"
#include "base/detached_start.hpp"

namespace halcyon::insitu {

using namespace offload;

namespace {

/// How long a server waits at its start for modules to be loaded: mistakes in the configuration are told by
/// halcyon_open, and a module that takes longer is started behind it.
constexpr std::chrono::seconds patience_at_start{5};

}  // namespace

result<std::string> find_worker(const std::string& named) {
    std::string wanted = named.empty() ? variable_or_nothing("HALCYON_WORKER") : named;
    std::error_code none;
    if (wanted.empty())
        wanted = (std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "halcyon-worker").string();
    if (::access(wanted.c_str(), X_OK) == 0) return wanted;
    return failure{
        error_kind::unavailable,
        "no halcyon-worker found, in which plugins run; looked for " + wanted + "; set HALCYON_WORKER to its path", 0};
}

plugin_workers::plugin_workers(descriptor document, std::string program)
    : program_(std::move(program)),
      document_(std::move(document)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      clock_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

plugin_workers::~plugin_workers() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake();
    if (thread_.joinable()) thread_.join();
}

result<void> plugin_workers::begin(surroundings where) {
    auto found = find_worker(program_);
    if (!found) return found.why();
    if (!wake_ || !clock_ || !document_) return system_failure("descriptors for workers", errno);
    program_ = *std::move(found);
    where_ = std::move(where);
    const auto& actions = where_.data->actions;
    for (uint32_t id = 0; id < actions.size(); ++id)
        if (actions[id].is_plugin() && !actions[id].run_inline)
            seats_[id] =
                std::make_unique<plugin_seat>(id, plugin_seat::surroundings{&where_, &program_, document_.get()});
    thread_ = std::thread([this] { run(); });
    if (!where_.first) return {};
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience_at_start, [this] {
        return std::all_of(seats_.begin(), seats_.end(), [](const auto& s) { return s.second->has_tried_to_load(); });
    });
    for (const auto& [id, seat] : seats_)
        if (seat->refused()) return *seat->refused();
    return {};
}

void plugin_workers::post(task what, std::function<void(const outcome&)> tell) {
    {
        const std::lock_guard lock(mutex_);
        plugin_seat& seat = *seats_.at(what.action_id);
        seat.take(std::move(what), std::move(tell));
        set_clock();
        if (!seat.needs_thread()) return;
    }
    wake();
}

std::vector<std::string> plugin_workers::finish() {
    std::vector<std::string> complaints;
    std::unique_lock lock(mutex_);
    ending_ = true;
    wake();
    changed_.wait(lock, [this] {
        return !thread_.joinable() || std::all_of(seats_.begin(), seats_.end(), [](const auto& s) {
            return s.second->is_absent() && !s.second->wants_start();
        });
    });
    for (const auto& [id, seat] : seats_)
        complaints.insert(complaints.end(), seat->complaints_at_end().begin(), seat->complaints_at_end().end());
    return complaints;
}

void plugin_workers::wake() const {
    const uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

/// The thread is woken when the first worker has been at something for too long.
void plugin_workers::set_clock() {
    int64_t first = 0;
    for (const auto& [id, seat] : seats_)
        if (const int64_t at = seat->deadline_ns(); at != 0 && (first == 0 || at < first)) first = at;
    if (std::exchange(clock_set_ns_, first) == first) return;
    const itimerspec when{{}, {first / 1'000'000'000, first % 1'000'000'000}};
    ::timerfd_settime(clock_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void plugin_workers::run() {
    std::vector<pollfd> waits;
    bool told_to_end = false;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (ending_ && !std::exchange(told_to_end, true))
            for (auto& [id, seat] : seats_) seat->finish();
        for (auto& [id, seat] : seats_)
            if (seat->wants_start()) seat->start();
        waits = {{wake_.get(), POLLIN, 0}, {clock_.get(), POLLIN, 0}};
        for (const auto& [id, seat] : seats_) seat->add_waits(waits);
        set_clock();
        changed_.notify_all();
        lock.unlock();
        ::poll(waits.data(), waits.size(), -1);
        uint64_t ignored = 0;
        for (const descriptor* d : {&wake_, &clock_}) static_cast<void>(!::read(d->get(), &ignored, sizeof ignored));
        lock.lock();
        const int64_t now = monotonic_ns();
        for (auto& [id, seat] : seats_) {
            seat->send();
            seat->hear();
            seat->look_at_clock(now);
        }
    }
    seats_.clear();  // on the thread that started them
}

}  // namespace halcyon::insitu
