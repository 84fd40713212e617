// Servers of one MPI world agree on the order of events. Each rank is a server: the main thread carries, another one
// does what a node server would.

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "programs/mpi_job_events.hpp"

namespace {

using halcyon::mpi_job_events;

struct told {
    uint32_t event_id;
    int64_t iteration;
    int64_t own;
    bool operator==(const told&) const = default;
};

class world {
  public:
    world() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        events.on_own([this](const halcyon::notice& n) {
            if (n.what != halcyon::notice::kind::meet) return;
            met.push_back(n.event_id);
            seen_before_meeting = seen.size();
            meetings.fetch_add(1, std::memory_order_release);
            meetings.notify_all();
        });
    }

    /// Runs `server` beside carry(). Returns when the world has ended.
    void run(const std::function<void()>& server) {
        std::thread node(server);
        events.carry();
        node.join();
        events.wait_for_others();
    }

    void record() {
        events.on_event([this](uint32_t id, int64_t iteration, bool own) {
            {
                const std::lock_guard lock(guard);
                seen.push_back({id, iteration, own ? 1 : 0});
            }
            count.fetch_add(1, std::memory_order_release);
            count.notify_all();
        });
    }

    /// Returns when all have finished, and what they raised has come.
    void finish() {
        for (int run = count; !events.finish(run); run = count) wait_for_events(run + 1);
    }

    /// While others may still come.
    told event(int at) {
        const std::lock_guard lock(guard);
        return seen.at(static_cast<size_t>(at));
    }

    /// Returns when that many events were seen here.
    void wait_for_events(int wanted) {
        for (int now = count; now < wanted; now = count) count.wait(now);
    }

    /// What each rank saw, on every rank; all saw equally many.
    std::vector<std::vector<told>> everybodys() const {
        int mine = static_cast<int>(seen.size()), least = 0, most = 0;
        MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        EXPECT_EQ(least, most);
        if (least != most) return {};
        std::vector<told> all(static_cast<size_t>(most * size));
        const int bytes = most * static_cast<int>(sizeof(told));
        MPI_Allgather(seen.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
        std::vector<std::vector<told>> split;
        for (int r = 0; r < size; ++r) split.emplace_back(all.begin() + r * most, all.begin() + (r + 1) * most);
        return split;
    }

    int rank = 0, size = 0;
    std::atomic<int> abandonments{0};
    mpi_job_events events{MPI_COMM_WORLD, [this] {
                              ++abandonments;
                              abandonments.notify_all();
                          }};
    std::mutex guard;  ///< of `seen`, until all have finished
    std::vector<told> seen;
    std::atomic<int> count{0};
    std::vector<uint32_t> met;  ///< stores
    std::atomic<size_t> meetings{0};
    size_t seen_before_meeting = 0;
};

TEST(job_events, every_server_handles_the_same_events_in_the_same_order) {
    world w;
    constexpr int each = 500;
    w.run([&] {
        w.events.begin(w.size);
        w.record();
        for (int i = 0; i < each; ++i) w.events.raise(static_cast<uint32_t>(w.rank), i);
        w.finish();
    });
    EXPECT_EQ(w.seen.size(), static_cast<size_t>(each * w.size));
    const auto all = w.everybodys();
    for (const auto& other : all)
        for (size_t i = 0; i < other.size(); ++i) {
            ASSERT_EQ(other[i].event_id, all[0][i].event_id);
            ASSERT_EQ(other[i].iteration, all[0][i].iteration);
        }
    // Own events are marked, and come in the order in which they were raised.
    int64_t next = 0;
    for (const told& t : w.seen) {
        ASSERT_EQ(t.own, t.event_id == static_cast<uint32_t>(w.rank) ? 1 : 0);
        if (t.own != 0) {
            ASSERT_EQ(t.iteration, next++);
        }
    }
    EXPECT_EQ(next, each);
}

TEST(job_events, a_meeting_is_held_once_and_not_before_the_last_server_has_come) {
    world w;
    constexpr uint32_t store = 7, sign = 8;
    const auto others = static_cast<size_t>(w.size - 1);
    w.run([&] {
        w.events.begin(w.size);
        w.record();
        if (w.rank == w.size - 1) w.wait_for_events(w.size - 1);  // everybody else has come
        w.events.meet(store);
        if (w.rank != w.size - 1) w.events.raise(sign, w.rank);
        w.finish();
    });
    EXPECT_EQ(w.met, std::vector<uint32_t>{store});
    EXPECT_EQ(w.seen_before_meeting, others);
    EXPECT_EQ(w.seen.size(), others);
}

TEST(job_events, meetings_that_servers_come_to_in_different_orders_are_held_in_one) {
    world w;
    constexpr int stores = 60;
    w.run([&] {
        w.events.begin(w.size);
        for (int i = 0; i < stores; ++i) w.events.meet(static_cast<uint32_t>((i * 7 + w.rank * 13) % stores));
        w.finish();
    });
    ASSERT_EQ(w.met.size(), static_cast<size_t>(stores));
    std::vector<uint32_t> of_first = w.met;
    MPI_Bcast(of_first.data(), stores, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    EXPECT_EQ(w.met, of_first);
}

TEST(job_events, a_server_that_finished_is_not_waited_for_at_a_meeting) {
    world w;
    w.run([&] {
        w.events.begin(w.size);
        if (w.rank == 0) w.events.meet(3);
        w.finish();
    });
    EXPECT_EQ(w.met, std::vector<uint32_t>{3});
}

TEST(job_events, finish_returns_after_the_events_of_servers_that_finish_later) {
    world w;
    size_t at_return = 0;
    constexpr int more = 100;
    w.run([&] {
        w.events.begin(w.size);
        w.record();
        if (w.rank == w.size - 1)
            for (int i = 0; i < more; ++i) {
                w.events.raise(1, i);
                w.wait_for_events(i + 1);
            }
        w.finish();
        at_return = w.seen.size();
    });
    EXPECT_EQ(at_return, static_cast<size_t>(more));
}

TEST(job_events, an_event_that_is_raised_while_the_last_one_runs_is_seen_by_all) {
    world w;
    constexpr int generations = 20;
    w.run([&] {
        w.events.begin(w.size);
        w.record();
        if (w.rank == 0) w.events.raise(1, 0);
        // Whoever has finished may still be told of an event, and raises the next one.
        for (int run = 0; !w.events.finish(run);) {
            w.wait_for_events(run + 1);
            const int64_t generation = w.event(run).iteration;
            ++run;
            if (generation + 1 < generations && generation % w.size == w.rank) w.events.raise(1, generation + 1);
        }
    });
    ASSERT_EQ(w.seen.size(), static_cast<size_t>(generations));
    for (int i = 0; i < generations; ++i) EXPECT_EQ(w.seen[static_cast<size_t>(i)].iteration, i);
}

TEST(job_events, events_wait_for_a_handler) {
    world w;
    w.run([&] {
        w.events.begin(w.size);
        if (w.rank == 0) {
            w.events.raise(1, 5);
            w.events.meet(2);
            w.meetings.wait(0);  // the event came before
            EXPECT_EQ(w.count, 0);
            w.record();
        } else {
            w.record();
            w.wait_for_events(1);
            w.events.meet(2);
        }
        w.finish();
    });
    EXPECT_EQ(w.seen.size(), 1U);
}

TEST(job_events, servers_without_clients_are_not_waited_for) {
    world w;
    w.run([&] {
        if (w.rank != 0) return;
        w.events.begin(1);
        w.record();
        w.events.raise(1, 1);
        w.events.meet(2);
        w.finish();
    });
    if (w.rank == 0) {
        EXPECT_EQ(w.seen.size(), 1U);
        EXPECT_TRUE(w.events.had_clients());
    }
    EXPECT_EQ(w.met, std::vector<uint32_t>{2}) << "they are told of meetings all the same";
    EXPECT_GE(w.abandonments, 1) << "who waits for a client has to be told that the world ends";
}

TEST(job_events, a_world_without_any_client_ends_when_its_starter_is_gone) {
    world w;
    w.run([&] {
        if (w.rank == 0) w.events.abandon();
        w.abandonments.wait(0);
        w.events.leave();
    });
    EXPECT_FALSE(w.events.had_clients());
}

}  // namespace
