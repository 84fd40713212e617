#include "offload/server/plugin_lanes.hpp"

#include <algorithm>
#include <utility>

#include "offload/segment/spill.hpp"

namespace halcyon::offload {

void plugin_lanes::run(uint32_t action_id, std::shared_ptr<const action_occasion> what, std::function<void()> over) {
    lanes_[action_id].waiting.push_back({std::move(what), std::move(over)});
    ++waiting_;
    begin_next(action_id);
}

void plugin_lanes::begin_next(uint32_t action_id) {
    lane& l = lanes_[action_id];
    const bool aside = segment_.mark_of(action_id).aside.load(std::memory_order_relaxed) != 0;
    while (!l.runs && !l.waiting.empty()) {
        wish next = std::move(l.waiting.front());
        l.waiting.pop_front();
        --waiting_;
        if (aside || host_ == nullptr) {
            journal_.add(&run_counts::skipped_actions);
            // By way of the inbox: however many there are, none is over within another's end.
            inbox_.tell(std::move(next.over));
            continue;
        }
        l.runs = true;
        host_->post(task_of(action_id, *next.what), [this, action_id, next](const plugin_host::outcome& outcome) {
            inbox_.tell([this, action_id, next, outcome] {
                finished(action_id, next.what->iteration, outcome);
                next.over();
                lanes_[action_id].runs = false;
                begin_next(action_id);
            });
        });
    }
}

plugin_host::task plugin_lanes::task_of(uint32_t action_id, const action_occasion& what) {
    plugin_host::task t;
    t.action_id = action_id;
    t.event_id = what.event_id;
    t.iteration = what.iteration;
    t.rank = what.client >= 0 ? book_.rank_of(static_cast<uint32_t>(what.client)) : -1;
    t.can_raise = can_raise_;
    t.left_out = what.left_out;
    t.parameters = what.parameters;
    add_blocks(what.blocks, t.blocks, t);
    add_blocks(what.once, t.once, t);
    journal_.add(&run_counts::unseen_blocks, static_cast<int64_t>(t.left_out));
    return t;
}

void plugin_lanes::add_blocks(const std::vector<iteration_book::key>& keys, std::vector<named_block>& to,
                              plugin_host::task& t) {
    to.reserve(keys.size());
    for (const iteration_book::key k : keys) {
        const checked_block& b = book_.find(k)->block;
        if (b.in_spill) {
            const int file = held_.spill_file_of(b.client);
            if (file < 0 || !spill_holds(file, b.location, static_cast<uint64_t>(b.shape.bytes))) {
                ++t.left_out;
                continue;
            }
            const bool known =
                std::any_of(t.spilled.begin(), t.spilled.end(), [&b](const auto& s) { return s.client == b.client; });
            if (!known) t.spilled.push_back({b.client, file});
        }
        to.push_back({b.client, b.index, b.sequence});
    }
}

void plugin_lanes::finished(uint32_t action_id, int64_t iteration, const plugin_host::outcome& outcome) {
    using kind = plugin_host::outcome::kind;
    journal_.add(&run_counts::unseen_blocks, static_cast<int64_t>(outcome.unseen));
    if (outcome.how != kind::done) {
        journal_.add(&run_counts::failed_actions);
        journal_.note(outcome.why);
    }
    if (outcome.how == kind::ended || outcome.how == kind::not_started)
        count_end(action_id);
    else
        segment_.mark_of(action_id).ends.store(0, std::memory_order_relaxed);
    for (const uint32_t event_id : outcome.raised)
        if (raised_) raised_(event_id, iteration);
}

void plugin_lanes::ended_idle(uint32_t action_id, const std::string& why) {
    journal_.note(why);
    count_end(action_id);
}

void plugin_lanes::count_end(uint32_t action_id) {
    journal_.add(&run_counts::ended_plugins);
    action_mark& mark = segment_.mark_of(action_id);
    const action& a = data_.actions[action_id];
    const uint32_t ends = mark.ends.fetch_add(1, std::memory_order_relaxed) + 1;
    if (ends < static_cast<uint32_t>(a.retries) || mark.aside.exchange(1, std::memory_order_relaxed) != 0) return;
    journal_.add(&run_counts::plugins_aside);
    journal_.note("action '" + a.name + "' is not run any more: its process ended " + std::to_string(ends) +
                  (ends == 1 ? " time" : " times in a row") + " (`retries`)");
}

}  // namespace halcyon::offload
