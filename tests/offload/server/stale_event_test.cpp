#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "base/futex.hpp"
#include "offload/server/node_server.hpp"
#include "temporary_folder.hpp"

namespace halcyon::offload {
namespace {

constexpr int64_t iterations = 2000;

/// The only client of a session: one block in each iteration, always in the same entry.
class reusing_client {
  public:
    reusing_client(const segment& s, const model& m)
        : segment_(s),
          events_(s.events(0), s.geometry().event_slots),
          shape_(shape_of(m, m.variables[0], {}).value()) {}

    /// Hands over a block, and announces the one before it again, as a ring does that a predecessor had not emptied.
    void go_through(int64_t iteration, int pause) {
        if (iteration > 0) push(event_kind::block_handed, iteration - 1);
        for (int i = 0; i < pause; ++i) cpu_relax();
        block_entry& e = entry();
        e.variable = 0;
        e.iteration = iteration;
        e.sequence = static_cast<uint64_t>(iteration) + 1;
        e.location = segment_.geometry().arena_offset(0);
        e.in_spill = 0;
        e.block = 0;
        e.shape = shape_;
        e.state.store(block_state::servers, std::memory_order_release);
        push(event_kind::block_handed, iteration);
        segment_.page(0).ended_through.store(iteration, std::memory_order_release);
        push(event_kind::end_iteration, iteration);
    }
    /// Until the server gave the entry back, which it does when the iteration is stored; a minute at most.
    [[nodiscard]] bool gets_it_back(int64_t iteration) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        const auto& through = segment_.header().stored_through;
        while (through.load(std::memory_order_acquire) < iteration ||
               entry().state.load(std::memory_order_acquire) != block_state::free) {
            if (std::chrono::steady_clock::now() > limit) return false;
            std::this_thread::yield();
        }
        return true;
    }
    void close() {
        segment_.page(0).closed.store(1, std::memory_order_release);
        segment_.header().may_exit.store(1, std::memory_order_release);
        push(event_kind::closed, iterations);
    }

  private:
    [[nodiscard]] block_entry& entry() const { return segment_.table(0)[0]; }
    void push(event_kind kind, int64_t iteration) {
        event_record e{};
        e.kind = kind;
        e.iteration = iteration;
        e.sequence = static_cast<uint64_t>(iteration) + 1;
        ASSERT_TRUE(events_.push(e)) << "the ring is full";
        segment_.header().bell.ring();
    }

    const segment& segment_;
    event_ring::producer events_;
    block_shape shape_;
};

/// The client fills the entry at any moment of the server's look at it.
TEST(a_stale_event, does_not_free_the_new_block_of_its_entry) {
    const tests::temporary_folder folder;
    const std::string text =
        "halcyon: 1\nsimulation: t\n"
        "data: {layouts: {row: {type: float32, dimensions: [4]}}, variables: {a: {layout: row}}}\n"
        "resources: {server: {spin: 1 s}}\n";
    const model m = parse_model(text, "t.yaml", {}).value();
    session_document document;
    document.session = random_session_id();
    document.directory = folder.path().string();
    document.writer = "n0000";
    document.client_ranks = {0};
    document.geometry = plan_segment(m, 1, need_of(m, 0, 1).value()).value();
    segment own = segment::create(document.geometry, false).value();
    const segment shared = segment::attach(descriptor(::dup(own.fd())), document.geometry).value();
    // A second server, which must put up with events that are older than itself.
    ASSERT_TRUE(shared.header().tenure.change(tenure{}, tenure{2, 1, tenure::phase::taking_over}));
    auto server =
        node_server::start({m, document, std::move(own), 2, false, nullptr,
                            [](const std::string&) { return result<void>(); }, nullptr, nullptr, nullptr, nullptr})
            .value();
    server->client_joined(0);
    std::thread loop([&server] { EXPECT_EQ(server->run(), 0); });
    reusing_client client(shared, m);
    std::minstd_rand chance(1);  // NOLINT(cert-msc51-cpp): the same pauses in every run
    int64_t done = 0;
    while (done < iterations) {
        client.go_through(done, static_cast<int>(chance() % 500));
        if (!client.gets_it_back(done)) break;
        ++done;
    }
    client.close();
    loop.join();
    EXPECT_EQ(done, iterations) << "a block never came back";
    const server_counts counts = shared.header().ledger.read().counts;
    EXPECT_EQ(counts.iterations, iterations);
    EXPECT_EQ(counts.blocks, iterations) << "blocks were freed before the server had adopted them";
    EXPECT_EQ(counts.rejected_blocks, 0);
}

}  // namespace
}  // namespace halcyon::offload
