#include "offload/server/action_queue.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "parts_of_a_server.hpp"
#include "plugins_in_threads.hpp"

namespace halcyon::offload {
namespace {

/// How the servers of a job agree on an order: the test says what comes when.
class job_of_two_servers final : public job_events {
  public:
    void begin(int servers) override { servers_ = servers; }
    void raise(uint32_t event_id, int64_t iteration) override { raised_.push_back({event_id, iteration}); }
    void on_event(handler told) override { told_ = std::move(told); }
    bool finish(int64_t) override { return true; }

    void deliver(uint32_t event_id, int64_t iteration, bool own) const { told_(event_id, iteration, own); }
    struct raised {
        uint32_t event_id;
        int64_t iteration;
    };
    [[nodiscard]] const std::vector<raised>& raised_events() const { return raised_; }

  private:
    int servers_ = 0;
    handler told_;
    std::vector<raised> raised_;
};

/// Two clients; `look` reads blocks and lasts until open() is called. Two actions may run at once.
class the_action_queue : public ::testing::Test {
  protected:
    enum event_number : uint32_t { say, look, agree };

    ~the_action_queue() override {
        open();
        finish();
    }
    void open() const { std::ofstream(gate_.file("go")) << "go"; }
    static std::string configuration(const std::string& until) {
        return "halcyon: 1\nsimulation: t\n"
               "data: {layouts: {row: {type: float32, dimensions: [4]}}, variables: {a: {layout: row}}}\n"
               "events: {say: {actions: [note]}, look: {actions: [gated]}, agree: {actions: [note], scope: job}}\n"
               "actions: {note: {type: log}, gated: {type: module, module: " GATED_ACTION
               ", function: gated_action, options: {until: " +
               until +
               "}}}\n"
               "resources: {server: {threads: 3}}\n";
    }
    void begin_plugins() {
        plugin_host::surroundings where;
        where.data = &parts.data;
        where.directory = parts.folder.path().string();
        ASSERT_TRUE(queue.begin_plugins(&plugins, where).ok());
    }
    /// Until no action waits or runs.
    void finish() {
        parts.finish();
        while (!queue.empty()) parts.finish();
    }
    uint64_t signals_done(uint32_t client) const { return parts.shared.page(client).signals_done.load(); }
    /// What each run of `look` saw.
    std::vector<std::string> looks() const {
        std::ifstream file(parts.folder.file("gated.txt"));
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        return lines;
    }
    static std::string line_of(const std::string& event, int64_t iteration, const std::string& rest = {}) {
        return "event '" + event + "' iteration " + std::to_string(iteration) + rest;
    }

    tests::temporary_folder gate_;
    testing::parts_of_a_server parts{configuration(gate_.file("go")), 2};
    job_of_two_servers job;
    parameter_values parameters{parts.shared, parts.data};
    action_queue queue{
        parts.shared,  parts.data,  {[this](const std::string& line) { static_cast<void>(parts.say(line)); }, &job},
        parts.book,    parts.held,  parameters,
        parts.pending, parts.notes, parts.news,
        parts.pool};
    /// Last: it tells the queue.
    testing::plugins_in_threads plugins{parts.shared};
};

TEST_F(the_action_queue, runs_events_in_the_order_in_which_they_came) {
    parts.close_gate();
    std::vector<std::string> expected;
    for (int64_t i = 0; i < 40; ++i) {
        const int client = static_cast<int>(i % 2);
        queue.run(say, i, client);
        expected.push_back(line_of("say", i, " from rank " + std::to_string(client)));
    }
    EXPECT_TRUE(parts.log("event").empty());
    EXPECT_FALSE(queue.empty());
    finish();
    EXPECT_EQ(parts.log("event"), expected);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(signals_done(0), 20U);
    EXPECT_EQ(signals_done(1), 20U);
}

TEST_F(the_action_queue, calls_done_after_the_actions) {
    std::vector<std::string> said_before;
    queue.run(say, 7, -1, [&] { said_before = parts.log("event"); });
    EXPECT_TRUE(said_before.empty());
    finish();
    EXPECT_EQ(said_before, std::vector{line_of("say", 7)});
    EXPECT_EQ(signals_done(0) + signals_done(1), 0U) << "no client raised it";
}

TEST_F(the_action_queue, takes_no_events_while_it_is_full_and_says_so_once) {
    parts.close_gate();
    const std::string full = "no event is taken from the clients until some of these actions have run";
    // Two of them are with the pool.
    for (size_t i = 0; i < action_queue::most_waiting + 1; ++i) queue.run(say, 0, 0);
    EXPECT_TRUE(queue.takes_events());
    EXPECT_TRUE(parts.log(full).empty());
    queue.run(say, 0, 0);
    EXPECT_FALSE(queue.takes_events());
    queue.run(say, 0, 0);
    EXPECT_EQ(parts.log(full).size(), 1U);
    EXPECT_EQ(parts.notes.counts().waiting_actions, static_cast<int64_t>(action_queue::most_waiting) + 1);
    finish();
    EXPECT_TRUE(queue.takes_events());
    EXPECT_EQ(parts.log("event").size(), action_queue::most_waiting + 3);
}

TEST_F(the_action_queue, keeps_blocks_until_the_actions_that_read_them_have_run) {
    begin_plugins();
    const auto k = parts.hand_over(0, 0, 0);
    *reinterpret_cast<float*>(parts.shared.bytes_at(parts.entry(0, 0).location)) = 2.5F;
    queue.run(look, 0, -1);
    parts.book.mark_stored(k, false);
    parts.notes.mark_stored(0);
    parts.held.give_back_if_done(k);
    EXPECT_EQ(parts.entry(0, 0).state.load(), block_state::servers);
    open();
    finish();
    EXPECT_EQ(looks(), std::vector<std::string>{"1 2.5"});
    EXPECT_EQ(parts.entry(0, 0).state.load(), block_state::free);
    EXPECT_EQ(parts.book.find(k), nullptr);
}

TEST_F(the_action_queue, shows_an_event_the_blocks_of_its_raiser_and_iteration) {
    begin_plugins();
    open();
    parts.hand_over(0, 0, 0);
    parts.hand_over(1, 0, 0);
    parts.hand_over(1, 1, 1);
    queue.run(look, 0, 1);
    queue.run(look, 0, -1);
    finish();
    EXPECT_EQ(looks(), (std::vector<std::string>{"1 0", "2 0"}));
}

TEST_F(the_action_queue, counts_blocks_whose_bytes_are_gone) {
    begin_plugins();
    open();
    const auto buried = parts.hand_over(0, 0, 0);
    parts.hand_over(1, 0, 0);
    parts.book.bury(buried);
    queue.run(look, 0, -1);
    finish();
    EXPECT_EQ(looks(), std::vector<std::string>{"1 0"});
    EXPECT_EQ(parts.notes.counts().unseen_blocks, 1);
}

TEST_F(the_action_queue, gives_blocks_back_when_an_action_fails) {
    begin_plugins();
    plugins.foretold = {{plugin_host::outcome::kind::failed, "it failed", {}, 0}};
    const auto k = parts.hand_over(0, 0, 0);
    queue.run(look, 0, 0);
    finish();
    EXPECT_EQ(parts.notes.counts().failed_actions, 1);
    EXPECT_EQ(parts.notes.counts().ended_plugins, 0);
    EXPECT_EQ(parts.book.find(k)->pins, 0);
    EXPECT_EQ(signals_done(0), 1U);
}

TEST_F(the_action_queue, puts_a_plugin_aside_that_ends_its_process_too_often_in_a_row) {
    using kind = plugin_host::outcome::kind;
    begin_plugins();
    const auto k = parts.hand_over(0, 0, 0);
    plugins.foretold = {{kind::ended, "it crashed", {}, 0},       {kind::not_started, "no process", {}, 0},
                        {kind::failed, "it failed", {}, 0},       {kind::ended, "it crashed", {}, 0},
                        {kind::not_started, "no process", {}, 0}, {kind::ended, "it hung", {}, 0}};
    for (int i = 0; i < 9; ++i) queue.run(look, 0, 0);
    finish();
    EXPECT_TRUE(plugins.foretold.empty());
    EXPECT_EQ(parts.notes.counts().failed_actions, 6);
    EXPECT_EQ(parts.notes.counts().ended_plugins, 5);
    EXPECT_EQ(parts.notes.counts().plugins_aside, 1);
    EXPECT_EQ(parts.notes.counts().skipped_actions, 3);
    EXPECT_EQ(parts.log("action 'gated' is not run any more").size(), 1U);
    EXPECT_EQ(parts.book.find(k)->pins, 0);
    EXPECT_EQ(signals_done(0), 9U);
}

TEST_F(the_action_queue, raises_what_a_plugin_raised_after_its_run) {
    begin_plugins();
    queue.join_job(2);
    plugins.foretold = {{plugin_host::outcome::kind::done, "", {agree, agree}, 0}};
    queue.run(look, 4, 0);
    finish();
    ASSERT_EQ(job.raised_events().size(), 2U);
    EXPECT_EQ(job.raised_events()[1].iteration, 4);
}

TEST_F(the_action_queue, runs_events_of_the_job_one_by_one_in_the_common_order) {
    queue.join_job(2);
    parts.close_gate();
    queue.raise_in_job(1, agree, 5);
    ASSERT_EQ(job.raised_events().size(), 1U);
    EXPECT_EQ(job.raised_events()[0].iteration, 5);
    job.deliver(agree, 3, false);
    job.deliver(agree, 5, true);
    parts.news.read();
    EXPECT_EQ(parts.pool.outstanding(), 2U) << "the gate and the first event: the second waits for its end";
    finish();
    EXPECT_EQ(parts.log("event"), (std::vector{line_of("agree", 3), line_of("agree", 5)}));
    EXPECT_EQ(queue.job_events_taken(), 2);
    EXPECT_EQ(signals_done(1), 1U) << "only its own event";
}

}  // namespace
}  // namespace halcyon::offload
