#include "offload/client/completion.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>

#include "client_without_job.hpp"

namespace halcyon::offload {
namespace {

/// Client 0 of two, which has said goodbye to its server.
class a_detaching_client : public ::testing::Test {
  protected:
    void SetUp() override {
        c.page.iterations_taken.store(1);
        c.now.end();
    }
    /// Whether detach() returns before the server is lost; what it says.
    std::optional<result<void>> detach(std::chrono::milliseconds within) {
        completion all{&c.shared, &c.link, &c.channel, 0, c.loss, c.fallback, c.now};
        auto said = std::async(std::launch::async, [&all] { return all.detach(); });
        const bool in_time = said.wait_for(within) == std::future_status::ready;
        if (!in_time) c.link.on = false;
        const result<void> outcome = said.get();
        return in_time ? std::optional(outcome) : std::nullopt;
    }
    void say(server_state state) { c.shared.header().state.store(state); }

    testing::client_without_job c{
        "halcyon: 1\nsimulation: t\n"
        "data: {layouts: {row: {type: float32, dimensions: [1024]}}, variables: {a: {layout: row}}}\n"
        "resources: {buffer: {size: 1 MiB}}\n"};
};

constexpr std::chrono::seconds soon{30};
constexpr std::chrono::milliseconds a_while{300};

TEST_F(a_detaching_client, goes_when_its_server_has_taken_everything) {
    say(server_state::running);
    const auto said = detach(soon);
    ASSERT_TRUE(said.has_value());
    EXPECT_TRUE(said->ok());
}

TEST_F(a_detaching_client, goes_when_its_server_was_through_and_has_ended) {
    say(server_state::finished);
    c.link.has_ended = true;
    const auto said = detach(soon);
    ASSERT_TRUE(said.has_value());
    EXPECT_TRUE(said->ok());
}

TEST_F(a_detaching_client, waits_for_the_successor_of_one_that_was_not_through) {
    say(server_state::running);
    c.link.has_ended = true;
    EXPECT_FALSE(detach(a_while).has_value());
}

TEST_F(a_detaching_client, waits_until_its_last_iteration_was_taken) {
    say(server_state::running);
    c.now.end();
    EXPECT_FALSE(detach(a_while).has_value());
}

}  // namespace
}  // namespace halcyon::offload
