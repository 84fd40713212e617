#include "calls/wrappers/mpi/mpi_clocks.hpp"

#include <algorithm>
#include <bitset>
#include <cstdio>
#include <span>
#include <string_view>

#include "base/clock.hpp"
#include "base/shared_layout.hpp"
#include "calls/clocks/clock_meeting.hpp"
#include "calls/clocks/node_clock.hpp"
#include "calls/state/mpi_launch.hpp"
#include "calls/wrappers/mpi/mpi_library.hpp"

namespace halcyon::calls::mpi::clocks {
namespace {

constexpr int rounds = 32;
constexpr int creation_tag = 30'211;  // below the least upper bound that the standard allows (32,767)
constexpr int64_t start_patience_ns = 5'000'000'000;
// MPI_Finalize waits for the slowest rank anyway.
constexpr int64_t end_patience_ns = 60'000'000'000;
/// Of one that is there: it answers at once, unless it is stopped.
constexpr int64_t answer_patience_ns = 2'000'000'000;

/// Where in the run clocks are compared: its messages' tags. A message of the start that came too late is none of the
/// end.
enum class moment : int { start = 1, end = 2 };
constexpr int gave_up_tag = 3;
/// Of the message by which a rank says that it has come.
constexpr int hello_tag(moment when) {
    return gave_up_tag + static_cast<int>(when);
}

struct comparison {
    int64_t offset_ns;  // the other clock less this one
    int64_t error_ns;
    int64_t at_ns;  // by the other clock
};

/// Contents of messages. Static, because a message that was given up may still be on its way.
union message {
    int64_t number;
    comparison found;
};
static_assert(has_copied_layout<message, 24, 8>());
constinit message sent{};
constinit message received{};

/// While it lives, the library returns errors on MPI_COMM_WORLD instead of ending the application.
class errors_returned {
  public:
    errors_returned() {
        saved_ = ask(HALCYON_PMPI(Comm_get_errhandler, (handle, handle*)), world(), &handler_) == success;
        if (saved_) ask(HALCYON_PMPI(Comm_set_errhandler, (handle, handle)), world(), errors_return());
    }
    ~errors_returned() {
        if (!saved_) return;
        ask(HALCYON_PMPI(Comm_set_errhandler, (handle, handle)), world(), handler_);
        ask(HALCYON_PMPI(Errhandler_free, (handle*)), &handler_);
    }
    errors_returned(const errors_returned&) = delete;
    errors_returned& operator=(const errors_returned&) = delete;

  private:
    handle handler_ = nullptr;
    bool saved_ = false;
};

/// The ranks that compare clocks, as a communicator. Number 0 is rank 0, with which all others compare.
class circle {
  public:
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] int count() const { return count_; }

    /// Collective over `ranks`.
    void make(std::span<const int> ranks) {
        const errors_returned no_harm;
        handle all = nullptr;
        handle ours = nullptr;
        const int count = static_cast<int>(ranks.size());
        if (ask(HALCYON_PMPI(Comm_group, (handle, handle*)), world(), &all) != success) return;
        if (ask(HALCYON_PMPI(Group_incl, (handle, int, const int*, handle*)), all, count, ranks.data(), &ours) ==
            success) {
            const auto create = HALCYON_PMPI(Comm_create_group, (handle, handle, int, handle*));
            if (ask(create, world(), ours, creation_tag, &communicator_) == success) count_ = count;
            ask(HALCYON_PMPI(Group_free, (handle*)), &ours);
        }
        ask(HALCYON_PMPI(Group_free, (handle*)), &all);
        if (!empty()) ask(HALCYON_PMPI(Comm_set_errhandler, (handle, handle)), communicator_, errors_return());
    }

    /// Not while messages are on their way.
    void free() {
        if (!empty()) ask(HALCYON_PMPI(Comm_free, (handle*)), &communicator_);
        count_ = 0;
    }

    bool send(const message& what, int bytes, int to, int tag, int64_t until_ns) {
        sent = what;
        handle request = nullptr;
        const auto start = HALCYON_PMPI(Isend, (const void*, int, handle, int, int, handle, handle*));
        if (ask(start, &sent, bytes, byte_type(), to, tag, communicator_, &request) != success) return false;
        if (completes(request, to, until_ns)) return true;
        ask(HALCYON_PMPI(Request_free, (handle*)), &request);
        return false;
    }

    bool receive(int bytes, int from, int tag, int64_t until_ns) {
        handle request = nullptr;
        const auto start = HALCYON_PMPI(Irecv, (void*, int, handle, int, int, handle, handle*));
        if (ask(start, &received, bytes, byte_type(), from, tag, communicator_, &request) != success) return false;
        if (completes(request, from, until_ns)) return true;
        ask(HALCYON_PMPI(Cancel, (handle*)), &request);
        ask(HALCYON_PMPI(Request_free, (handle*)), &request);
        return false;
    }

    /// For good: the message stays.
    void give_up(int number, int64_t until_ns) { send({.number = 0}, sizeof(int64_t), number, gave_up_tag, until_ns); }
    [[nodiscard]] bool has_given_up(int number) const { return has_sent(number, gave_up_tag); }

    /// Whether a message of that one waits to be received.
    [[nodiscard]] bool has_sent(int number, int tag) const {
        status_room status;
        int there = 0;
        const auto probe = HALCYON_PMPI(Iprobe, (int, int, handle, int*, void*));
        return ask(probe, number, tag, communicator_, &there, static_cast<void*>(&status)) == success && there != 0;
    }

  private:
    bool completes(handle& request, int other, int64_t until_ns) const {
        constexpr unsigned tests_between_looks = 256;
        status_room status;
        int done = 0;
        const auto test = HALCYON_PMPI(Test, (handle*, int*, void*));
        for (unsigned tests = 1; ask(test, &request, &done, static_cast<void*>(&status)) == success; ++tests) {
            if (done != 0) return true;
            if (monotonic_ns() >= until_ns) return false;
            if (tests % tests_between_looks == 0 && has_given_up(other)) return false;
            direct::yield();
        }
        return false;
    }

    handle communicator_ = nullptr;
    int count_ = 0;
};

/// In rank 0: asks one for its time again and again; the answer that came fastest says it best. False: it gave up, or
/// there is no more time.
bool compare_with(circle& all, int number, moment when, int64_t until_ns) {
    const int tag = static_cast<int>(when);
    comparison best{0, INT64_MAX, 0};
    if (!all.receive(sizeof(int64_t), number, hello_tag(when), until_ns)) return false;
    for (int round = 0; round < rounds; ++round) {
        const int64_t asked = monotonic_ns();
        if (!all.send({.number = round}, sizeof(int64_t), number, tag, until_ns) ||
            !all.receive(sizeof(int64_t), number, tag, until_ns)) {
            return false;
        }
        const int64_t error = (monotonic_ns() - asked + 1) / 2;
        const int64_t theirs = received.number;
        if (error < best.error_ns) best = {theirs - (asked + error), error, theirs};
    }
    return all.send({.found = best}, sizeof best, number, tag, until_ns);
}

/// In rank 0: compares with each of the others when it has come, in whatever order, so that none waits for a slower
/// one. Those with which that was not done in time are told so: they may come later and would wait. False when there
/// are any.
bool compare_with_all(circle& all, moment when, int64_t until_ns) {
    static constinit std::bitset<clock_meeting::most_ranks> is_done{};
    is_done.reset();
    int left = all.count() - 1;
    bool complete = true;
    while (left > 0 && monotonic_ns() < until_ns) {
        for (int other = 1; other < all.count(); ++other) {
            if (is_done[other]) continue;
            const bool gave_up = all.has_given_up(other);
            if (!gave_up && !all.has_sent(other, hello_tag(when))) continue;
            is_done.set(other);
            --left;
            const int64_t answer_until_ns = std::min(until_ns, monotonic_ns() + answer_patience_ns);
            const bool compared = !gave_up && compare_with(all, other, when, answer_until_ns);
            if (!compared && !gave_up) all.give_up(other, until_ns);
            complete = complete && compared;
        }
        direct::yield();
    }
    for (int other = 1; left > 0 && other < all.count(); ++other) {
        if (!is_done[other]) all.give_up(other, until_ns + start_patience_ns);
    }
    return complete && left == 0;
}

/// In the other: answers, and tells what came out.
bool be_compared(circle& all, moment when, int64_t until_ns) {
    const int tag = static_cast<int>(when);
    if (all.has_given_up(0) || !all.send({.number = 0}, sizeof(int64_t), 0, hello_tag(when), until_ns)) return false;
    for (int round = 0; round < rounds; ++round) {
        if (!all.receive(sizeof(int64_t), 0, tag, until_ns) ||
            !all.send({.number = monotonic_ns()}, sizeof(int64_t), 0, tag, until_ns)) {
            return false;
        }
    }
    if (!all.receive(sizeof(comparison), 0, tag, until_ns)) return false;
    char text[96];
    const comparison& found = received.found;
    const int length = snprintf(text, sizeof text, "%lld %lld %lld", static_cast<long long>(found.offset_ns),
                                static_cast<long long>(found.error_ns), static_cast<long long>(found.at_ns));
    const std::string_view value(text, static_cast<size_t>(length));
    this_process().layers.each([&](layer& l) { l.on_fact(0, "clock.offset", value); });
    return true;
}

/// True when nothing of it is on its way any more.
bool compare(circle& all, int number, moment when, int64_t patience_ns) {
    const int64_t until_ns = monotonic_ns() + patience_ns;
    if (number == 0) return compare_with_all(all, when, until_ns);
    if (be_compared(all, when, until_ns)) return true;
    // At the end, rank 0 listens no more once it has given up itself.
    if (when == moment::start || !all.has_given_up(0)) all.give_up(0, until_ns + start_patience_ns);
    return false;
}

constinit clock_meeting meeting{};
constinit circle together{};
constinit int own_rank = -1;
constinit bool is_clean = true;  // nobody gave up: no message is on its way

}  // namespace

void announce() {
    const uint64_t launch = mpi_launch::name();
    if (launch == 0 || mpi_launch::is_on_one_node() || *shared_folder() == '\0') return;
    char folder[3072];
    const int length =
        snprintf(folder, sizeof folder, "%s/.clocks.%016llx", shared_folder(), static_cast<unsigned long long>(launch));
    if (length <= 0 || static_cast<size_t>(length) >= sizeof folder) return;
    char clock[112];
    const size_t named = node_clock_name(clock, sizeof clock);
    meeting.announce({folder, static_cast<size_t>(length)}, {clock, named}, mpi_launch::rank());
}

void compare_at_start() {
    int ranks = 0;
    if (ask(HALCYON_PMPI(Comm_rank, (handle, int*)), world(), &own_rank) != success ||
        ask(HALCYON_PMPI(Comm_size, (handle, int*)), world(), &ranks) != success) {
        return;
    }
    const auto agreed = meeting.agree(own_rank, ranks);
    if (agreed.empty()) return;
    together.make(agreed);
    meeting.end();
    if (!together.empty()) is_clean = compare(together, own_rank, moment::start, start_patience_ns);
}

void compare_at_end() {
    if (together.empty() || (own_rank != 0 && !is_clean)) return;
    is_clean = compare(together, own_rank, moment::end, end_patience_ns) && is_clean;
    if (is_clean) together.free();
}

}  // namespace halcyon::calls::mpi::clocks
