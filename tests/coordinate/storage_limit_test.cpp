// Who moves side by side, by what applications are seen to take of the storage.
#include "coordinate/coordinator/storage_limit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

/// One that moves a gigabyte on a storage that is said to bear 100 MB/s.
struct mover {
    std::string name;
    int64_t bytes_per_s = 0;
    double speed = 0;  ///< relative to alone; 0: it has never moved alone

    /// Where it has the turn for itself, it is as fast as alone.
    [[nodiscard]] mover alone() const {
        if (!(speed > 0)) return *this;
        return {name, std::llround(static_cast<double>(bytes_per_s) / speed), 1};
    }
};

class side_by_side_storage : public testing::Test {
  protected:
    side_by_side_storage() : c(how()) {}
    static settings how() {
        settings made = conversation::quick(policy::rule::dynamic);
        made.storage_bytes_per_s = 1e8;
        made.stalled_s = 3600;
        made.bounds.starvation_s = 3600;
        return made;
    }
    void begin(const std::string& who, int64_t processes = 1) {
        c.connect(who);
        registration what = conversation::registration_of(who);
        what.processes = processes;
        c.say(who, what);
        c.say(who, phase_of(1, 0, 10'000'000'000));
    }
    /// Those that have the turn move; the others answer a recall.
    void pass(double seconds, const std::vector<mover>& all) {
        for (double passed_s = 0; passed_s < seconds; passed_s += 0.125) {
            c.now_s += 0.125;
            for (const mover& one : all)
                if (c.of(one.name).turn == turn_stage::recalled) c.say(one.name, stopped{c.lease[one.name]});
            const auto movers = std::ranges::count_if(all, [this](const mover& one) { return c.has_turn(one.name); });
            for (const mover& one : all) {
                if (!c.has_turn(one.name)) continue;
                const mover now = movers == 1 ? one.alone() : one;
                progress what = moved_in(0.125, now.bytes_per_s / 8, c.lease[one.name]);
                what.speed = now.speed;
                c.say(one.name, what);
            }
        }
    }
    bool both_move() { return c.has_turn("A") && c.has_turn("B"); }

    conversation c;
};

TEST_F(side_by_side_storage, does_not_go_on_where_one_is_much_slower_than_alone_until_the_other_has_moved_alone) {
    begin("A");
    pass(4, {{"A", 50'000'000, 1}});
    begin("B");
    EXPECT_TRUE(both_move()) << "B is believed to be like A";
    pass(1, {{"A", 20'000'000, 0.4}, {"B", 40'000'000}});
    EXPECT_TRUE(both_move()) << "a moment says nothing";
    pass(4, {{"A", 20'000'000, 0.4}, {"B", 40'000'000}});
    EXPECT_FALSE(both_move()) << "the storage is at its limit";
    c.say("A", release{1});
    c.say("A", stopped{c.lease["A"]});  // where the turn rests
    pass(2, {{"B", 10'000'000, 1}});
    begin("C");
    pass(1, {{"B", 10'000'000, 1}, {"C", 50'000'000}});
    EXPECT_TRUE(c.has_turn("B") && c.has_turn("C")) << "B has told its true share";
}

TEST_F(side_by_side_storage, does_not_go_on_where_neither_is_known_and_one_is_much_slower_than_others_were) {
    begin("C");
    pass(4, {{"C", 40'000'000, 1}});
    c.say("C", release{1});
    for (const char* const who : {"A", "B"}) {
        c.connect(who);
        c.say(who, conversation::registration_of(who));
    }
    c.say("C", stopped{c.lease["C"]});  // where the turn rests
    for (const char* const who : {"A", "B"}) c.say(who, phase_of(1, 0, 10'000'000'000));
    EXPECT_TRUE(both_move());
    pass(2, {{"A", 20'000'000}, {"B", 20'000'000}});
    EXPECT_FALSE(both_move());
}

TEST_F(side_by_side_storage, goes_on_where_a_slow_one_is_beside_one_that_is_as_fast_as_alone) {
    begin("A");
    pass(4, {{"A", 50'000'000, 1}});
    begin("B");
    pass(10, {{"A", 49'000'000, 0.98}, {"B", 2'000'000}});
    EXPECT_TRUE(both_move()) << "B is small";
}

TEST_F(side_by_side_storage, goes_on_where_two_take_seven_tenths_of_it_each) {
    begin("A");
    pass(4, {{"A", 70'000'000, 1}});
    begin("B");
    EXPECT_TRUE(both_move());
    pass(10, {{"A", 50'000'000, 0.71}, {"B", 50'000'000}});
    EXPECT_TRUE(both_move());
}

TEST_F(side_by_side_storage, is_not_for_one_process_that_takes_a_third_beside_sixteen_that_take_it_all) {
    for (const int64_t told_processes : {16, 1}) {
        SCOPED_TRACE(told_processes);
        c = conversation(how());
        begin("A");
        pass(4, {{"A", 33'000'000, 1}});
        begin("B", told_processes);
        EXPECT_EQ(both_move(), told_processes == 1);
        pass(5, {{"A", 6'000'000, 0.18}, {"B", 94'000'000}});
        EXPECT_FALSE(both_move());
    }
}

/// Applications of one node that move side by side, without anybody who decides anything.
class movers_of_a_storage : public testing::Test {
  protected:
    /// `alone_bytes_per_s`: 0 where it is not known.
    job& add(const std::string& name, double alone_bytes_per_s, double bytes_per_s) {
        peer one;
        one.id = ++last_;
        all_.connect(one);
        all_.admit(*all_.find_peer(last_), conversation::registration_of(name), 0, [] { return true; });
        job& made = *all_.find_job(all_.find_peer(last_)->job);
        made.begin_phase(made.agents.front(), inform{});
        if (alone_bytes_per_s > 0) made.agents.front().alone.add(alone_bytes_per_s, 1);
        made.has.begin(turn_stage::held, last_);
        made.counted_mover = true;
        made.storage.bytes_per_s = 1e8;
        made.worked_s = 10;
        made.others = 1;
        all_.note_state(made, now_s_);
        bytes_per_s_[made.id] = bytes_per_s;
        since_s_ = now_s_;
        return made;
    }
    void remove(job& one) {
        one.has.end();
        one.counted_mover = false;
        bytes_per_s_[one.id] = 0;
        since_s_ = now_s_;
    }
    void pass(double seconds) {
        for (const double until_s = now_s_ + seconds; now_s_ < until_s;) {
            now_s_ += 0.125;
            for (auto& [id, one] : all_.jobs()) {
                if (!one.counted_mover) continue;
                agent& its = one.agents.front();
                const auto moved = its.speed.observe(std::llround(bytes_per_s_.at(id) / 8), 0.125, false);
                if (moved) its.note_beside(*moved, since_s_, now_s_);
                if (one.look(now_s_, since_s_)) storage_limit::reported(all_, one, since_s_, now_s_);
            }
        }
    }

    /// Of a second node, between two calls.
    void tell(agent& by, double seconds, double bytes_per_s) const {
        const auto moved = by.speed.observe(std::llround(bytes_per_s * seconds), seconds, false);
        if (moved) by.note_beside(*moved, since_s_, now_s_);
    }

    std::map<uint64_t, double> bytes_per_s_;
    double since_s_ = 0;  ///< exactly those move that do

  private:
    registry all_{settings{}};
    connection_id last_ = 0;
    double now_s_ = 0;
};

TEST_F(movers_of_a_storage, are_taken_for_all_of_it_unless_it_bears_a_third_more_than_one_of_them_alone) {
    for (const double of_new : {25e6, 35e6}) {
        SCOPED_TRACE(of_new);
        job& known = add("A" + std::to_string(of_new), 3e7, 1e7);
        job& fresh = add("B" + std::to_string(of_new), 0, of_new);
        pass(2);
        EXPECT_EQ(fresh.fills_storage, of_new < 3e7) << "together, they move 35 or 45 MB/s";
        remove(known);
        remove(fresh);
    }
}

TEST_F(movers_of_a_storage, are_not_taken_for_all_of_it_where_they_move_a_tenth_of_what_another_one_lacks) {
    add("A", 5e7, 2e7);
    const job& large = add("B", 0, 2e7);
    const job& small = add("C", 0, 2e6);
    pass(2);
    EXPECT_TRUE(large.fills_storage);
    EXPECT_FALSE(small.fills_storage);
}

TEST_F(movers_of_a_storage, are_not_taken_for_all_of_it_for_times_before_they_came) {
    const job& known = add("A", 5e7, 1e7);
    job& other = add("X", 4.5e7, 1e7);
    pass(5);
    remove(other);
    const job& fresh = add("B", 0, 6e6);
    bytes_per_s_[known.id] = 5e7;
    pass(2);
    EXPECT_FALSE(fresh.fills_storage);
}

TEST_F(movers_of_a_storage, are_not_taken_for_all_of_it_since_a_node_of_another_one_has_told_of_a_moment_only) {
    job& known = add("A", 5e7, 5e7);
    const job& fresh = add("B", 0, 1e7);
    pass(2);
    agent& second = known.agents.emplace_back();
    known.begin_phase(second, inform{});
    second.alone.add(5e7, 1);
    for (int i = 0; i < 6; ++i) {
        pass(0.25);
        tell(second, 0.25, 5e7);
    }
    EXPECT_FALSE(fresh.fills_storage);
    EXPECT_NEAR(known.bytes_per_s_beside(since_s_).value(), 1e8, 1e6);
}

}  // namespace
}  // namespace halcyon::coordinate
