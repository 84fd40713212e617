#include "coordinate/election/election.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <limits>
#include <utility>

#include "coordinate/fencing/epoch.hpp"

namespace halcyon::coordinate {
namespace {

constexpr int64_t second_ns = 1'000'000'000;
/// However long the lease is: a leader whose key somebody removes sees that before the next one, which first relearns,
/// gives a turn.
constexpr int64_t longest_step_ns = second_ns / 4;

}  // namespace

int64_t election::now_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    return int64_t{t.tv_sec} * second_ns + t.tv_nsec;
}

result<std::unique_ptr<election>> election::start(const settings& how) {
    auto http = http_client::load();
    if (!http) return http.why();
    descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!bell) return system_failure("eventfd", errno);
    return std::unique_ptr<election>(new election(how, *std::move(http), std::move(bell)));
}

election::election(const settings& how, http_client http, descriptor bell)
    : how_(how),
      step_ns_(std::min(how.lease_s * second_ns / 8, longest_step_ns)),
      etcd_(std::move(http), how.servers, how.prefix, how.lease_s * second_ns / 8),
      bell_(std::move(bell)),
      thread_([this] { run(); }) {}

election::~election() {
    {
        const std::lock_guard here(mutex_);
        ends_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void election::run() {
    std::unique_lock here(mutex_);
    while (!ends_) {
        here.unlock();
        const int64_t pause_ns = own_.epoch == 0 ? campaign() : hold();
        here.lock();
        wake_.wait_for(here, std::chrono::nanoseconds(pause_ns), [this] { return ends_ || resigned_ != 0; });
        const uint64_t resigned = std::exchange(resigned_, 0);
        if (own_.epoch == 0 || (!ends_ && resigned != own_.epoch)) continue;
        here.unlock();
        leave(true);
        here.lock();
    }
}

/// Takes the lead where nobody has it. Returns how long to wait then.
int64_t election::campaign() {
    const auto seen = etcd_.look();
    if (!seen) {
        say("etcd cannot be asked: " + seen.why().message);
        publish({});
        return step_ns_;
    }
    if (seen->leader) {
        last_said_.clear();
        publish({0, 0, *seen->leader});
        return step_ns_ / 2;
    }
    // Agents may have seen epochs of daemons without an election, which follow the clock.
    const uint64_t epoch = std::max(seen->epoch + 1, epoch_by_clock());
    if (epoch > std::numeric_limits<uint32_t>::max()) {
        say("epoch " + std::to_string(epoch) + " is beyond 2^32: the clock or etcd's key " + how_.prefix +
            "/epoch is wrong");
        return step_ns_;
    }
    const int64_t asked_ns = now_ns();
    const auto lease = etcd_.begin_lease(how_.lease_s);
    if (!lease) {
        say("etcd gives no lease: " + lease.why().message);
        return step_ns_;
    }
    const auto taken = etcd_.take(*seen, *lease, how_.self, epoch);
    lease_ = *lease;
    if (!taken || !*taken) {
        // It may have been taken, though no answer came.
        if (!taken) say("etcd does not say who leads: " + taken.why().message);
        leave(true);
        return step_ns_ / 2;
    }
    last_said_.clear();
    publish({epoch, asked_ns + lease->lasts_s * second_ns - margin_ns, how_.self});
    return step_ns_;
}

/// Renews the lease. Returns how long to wait then.
int64_t election::hold() {
    const int64_t asked_ns = now_ns();
    if (asked_ns >= own_.until_ns) {
        say("the lease at etcd could not be renewed in time");
        leave(false);
        return step_ns_ / 2;
    }
    const auto lasts_s = etcd_.renew(lease_);
    const auto seen = lasts_s ? etcd_.look() : result<etcd_client::leadership>(lasts_s.why());
    if (!seen) {
        say("the lease at etcd was not renewed: " + seen.why().message);
        return step_ns_ / 4;
    }
    // A person may have removed the key.
    if (*lasts_s == 0 || seen->leader != how_.self || seen->epoch != own_.epoch) {
        say("etcd has ended this term");
        leave(true);
        return step_ns_ / 2;
    }
    last_said_.clear();
    publish({own_.epoch, asked_ns + *lasts_s * second_ns - margin_ns, how_.self});
    return step_ns_;
}

/// Without a word to etcd, the lease ends by itself.
void election::leave(bool tell_etcd) {
    publish({});
    if (tell_etcd) static_cast<void>(etcd_.end(lease_));
    lease_ = {};
}

void election::publish(const standing& now) {
    own_ = now;
    const std::lock_guard here(mutex_);
    const bool changes = shown_.epoch != now.epoch || shown_.leader != now.leader;
    shown_ = now;
    if (!changes) return;
    const uint64_t one = 1;
    static_cast<void>(::write(bell_.get(), &one, sizeof one) == sizeof one);
}

void election::say(std::string text) {
    if (std::exchange(last_said_, text) == text) return;
    const std::lock_guard here(mutex_);
    constexpr size_t most_kept = 16;
    if (news_.size() < most_kept) news_.push_back(std::move(text));
}

election::standing election::look() {
    uint64_t count = 0;
    static_cast<void>(::read(bell_.get(), &count, sizeof count) == sizeof count);
    const std::lock_guard here(mutex_);
    return shown_;
}

std::vector<std::string> election::news() {
    const std::lock_guard here(mutex_);
    return std::exchange(news_, {});
}

void election::resign(uint64_t epoch) {
    {
        const std::lock_guard here(mutex_);
        resigned_ = epoch;
    }
    wake_.notify_one();
}

}  // namespace halcyon::coordinate
