// Aggregators of collective calls stop at the same round, however their calls and the stop are interleaved.
#include <barrier>
#include <random>

#include "coordinate/layer/called_layer.hpp"

namespace halcyon::tests {
namespace {

/// For so many microseconds at most. Without giving the processor away: on a busy machine that takes milliseconds.
void linger(uint64_t most_us) {
    const int64_t until_ns = monotonic_ns() + static_cast<int64_t>(most_us) * 1000;
    while (monotonic_ns() < until_ns) {
    }
}

class stopped_rounds : public layer_test {
  protected:
    /// A collective call with so many transfers.
    static void collective(called_process& process, int transfers, const std::function<void(int)>& during) {
        process.call({.function = call_id::MPI_File_write_all, .meanwhile = [&] {
                          for (int k = 1; k <= transfers; ++k)
                              process.call({.parent = 1,
                                            .about = {call_id::MPI_File_write_all, true, calls::expected::yes},
                                            .meanwhile = [&] { during(k); }});
                      }});
    }
};

TEST_F(stopped_rounds, hold_the_transfer_that_they_name_and_let_those_before_pass) {
    allow();
    called_process process(page_, 1);
    std::atomic<int> reached{0};
    std::thread caller([&] {
        collective(process, 3, [&](int k) {
            if (k == 1) page_.publish(0, permission::stop, rounds::of(1, 3), {});
            reached = k;
        });
    });
    await_waiting(1);
    EXPECT_EQ(reached, 2);
    EXPECT_EQ(state(rounds::of(1, 3)).behind, 0);
    allow();
    caller.join();
    EXPECT_EQ(reached, 3);
}

TEST_F(stopped_rounds, stop_transfers_outside_of_collective_calls_at_once) {
    page_.publish(0, permission::stop, rounds::of(5, 1), {});
    called_process process(page_, 1);
    std::thread caller([&] { process.call({}); });
    await_waiting(1);
    allow();
    caller.join();
}

/// Two nodes with one aggregator each, which meet between rounds as two-phase I/O does. What each agent does at
/// `recall`, then at `stop`, at moments of a seeded order.
TEST_F(stopped_rounds, are_the_same_for_two_aggregators) {
    std::mt19937 random(20261125);
    agent_page other = agent_page::create({.mounts = {"/scratch"}}).value();
    other.beat(monotonic_ns() + 3600'000'000'000);
    other.heard(0, monotonic_ns() + 3600'000'000'000);
    int between = 0;
    for (int run = 0; run < 100; ++run) {
        agent_page* const nodes[] = {&page_, &other};
        for (agent_page* node : nodes) node->publish(0, permission::allowed, 0, int64_t{1} << 40U);
        called_process first(page_, 1), second(other, 1);
        called_process* const processes[] = {&first, &second};
        for (called_process* one : processes) one->part().round = one->part().inside = 0;
        constexpr int collectives = 6, transfers = 8;
        std::barrier<> exchange(2);
        std::atomic<int> done[2] = {0, 0};
        std::atomic<bool> is_called_back{false};
        const auto seed = random();
        const int at = static_cast<int>(random() % (collectives * transfers - 2));
        const auto run_process = [&](int which) {
            std::mt19937 own(seed + static_cast<unsigned>(which));
            for (int n = 0; n < collectives; ++n)
                collective(*processes[which], transfers, [&](int) {
                    linger(own() % 50);
                    // The recall meets calls that go on. Where it is late, they wait for it: else they would have come
                    // to their end.
                    if (++done[which] >= at + 2) wait_until([&] { return is_called_back.load(); });
                    exchange.arrive_and_wait();
                });
        };
        std::thread one(run_process, 0), two(run_process, 1);
        wait_until([&] { return done[run % 2] >= at; });
        uint64_t highest = 0;
        for (agent_page* node : nodes) {
            node->publish(0, permission::hold, 0, {});
            is_called_back = true;
            const uint64_t round = node->observe(0, 0, monotonic_ns()).round;
            node->publish(0, permission::stop, round + 1, {});
            highest = std::max(highest, round);
            linger(random() % 100);
        }
        for (agent_page* node : nodes) node->publish(0, permission::stop, highest + 1, {});
        // All of both stand still at the same round: or have come to their end.
        const auto still = [&](int which) {
            const node_state now = nodes[which]->observe(0, highest + 1, monotonic_ns());
            return now.under_way == 0 && now.behind == 0 &&
                   (now.waiting == 1 || done[which] == collectives * transfers);
        };
        wait_until([&] { return still(0) && still(1); });
        EXPECT_EQ(done[0], done[1]) << "run " << run << ", stopped before round " << highest + 1;
        between += done[0] % transfers != 0 ? 1 : 0;
        for (agent_page* node : nodes) node->publish(0, permission::allowed, 0, int64_t{1} << 40U);
        one.join();
        two.join();
    }
    EXPECT_GT(between, 30);
}

}  // namespace
}  // namespace halcyon::tests
