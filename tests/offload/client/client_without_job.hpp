#pragma once

#include <atomic>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "offload/client/block_room.hpp"
#include "offload/client/fallback_writer.hpp"
#include "offload/client/open_iteration.hpp"
#include "offload/client/server_channel.hpp"
#include "offload/client/server_link.hpp"
#include "offload/client/server_loss.hpp"
#include "offload/client/spill_file.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload::testing {

/// A server that a test switches off, for good or (has_ended) until its successor is there.
class switched_server final : public server_link {
  public:
    [[nodiscard]] bool available() const override { return on; }
    [[nodiscard]] bool has_server() override { return on && !has_ended; }
    result<void> share_spill_file(int) override {
        ++spill_files_shared;
        return {};
    }
    bool end_server(uint32_t) override { return false; }
    result<descriptor> take_turn() override { return descriptor(); }

    std::atomic<bool> on = true;
    std::atomic<bool> has_ended = false;
    int spill_files_shared = 0;
};

/// Notes what a client would store by itself.
class noted_fallback final : public fallback_writer {
  public:
    using block = std::tuple<int64_t, std::string, float>;  ///< iteration, variable, first value

    result<void> store_now(const variable& v, int, int64_t iteration, const block_shape&,
                           std::span<const std::byte> data) override {
        at_once.emplace_back(iteration, v.name, first_of(data));
        return {};
    }
    result<void> store_left(left_blocks left) override {
        for (const block_view& b : left.blocks) of_others.emplace_back(left.iteration, b.var->name, first_of(b.data));
        lost_of_others += left.lost.size();
        return {};
    }
    result<void> add(const variable& v, int, int64_t iteration, const block_shape&,
                     std::span<const std::byte> data) override {
        added.emplace_back(iteration, v.name, first_of(data));
        return {};
    }
    result<void> note_missing(const variable& v, int, int64_t iteration, absence::cause) override {
        missing.emplace_back(iteration, v.name);
        return {};
    }
    result<void> end_iteration(int64_t iteration) override {
        ended.push_back(iteration);
        return {};
    }
    result<void> add_phase(int64_t iteration, const phase&) override {
        phases.push_back(iteration);
        return {};
    }
    result<void> add_steering(const steering_record& s) override {
        steered.push_back(s.parameter);
        return {};
    }
    result<void> count_lost(int64_t signals, int64_t phases) override {
        lost_signals += signals;
        lost_phases += phases;
        return {};
    }
    result<void> count_policies(const policy_counts& of_client) override {
        policies += of_client;
        return {};
    }
    result<void> signal(const event&, int64_t) override { return {}; }
    result<void> settle_server(run_counts, int64_t) override {
        ++settled;
        return {};
    }
    void log(const std::string& line) override { lines.push_back(line); }
    result<void> flush() override { return {}; }
    [[nodiscard]] result<void> all_stored(int64_t) const override { return {}; }
    result<void> sync(reach) override { return {}; }
    result<void> finish() override { return {}; }

    std::vector<block> added, at_once, of_others;
    std::vector<std::pair<int64_t, std::string>> missing;
    std::vector<int64_t> ended, phases;
    std::vector<std::string> lines, steered;
    size_t lost_of_others = 0;
    int64_t lost_signals = 0, lost_phases = 0;
    policy_counts policies;
    int settled = 0;

  private:
    static float first_of(std::span<const std::byte> data) {
        float first = 0;
        std::memcpy(&first, data.data(), sizeof first);
        return first;
    }
};

/// The parts of client 0 of two to which the others refer, wired as client_session does. The test plays the server.
class client_without_job {
  public:
    explicit client_without_job(const std::string& configuration)
        : data(parse_model(configuration, "t.yaml", {}).value()),
          shared(segment::create(plan_segment(data, 2, need_of(data, 0, 2).value()).value(), false).value()) {}

    /// As a write of variable `v` puts it into the segment.
    uint32_t put(uint32_t v, float value) {
        const uint32_t entry =
            room.take(static_cast<uint64_t>(shape(v).bytes), !data.variables[v].time_varying).value();
        std::memcpy(room.bytes_of(entry), &value, sizeof value);
        room.describe(entry, data.variables[v], 0, now.number(), shape(v));
        room.hand_over(entry);
        return entry;
    }
    [[nodiscard]] block_shape shape(uint32_t v) const { return shape_of(data, data.variables[v], {0, 2, 0}).value(); }
    [[nodiscard]] std::atomic<block_state>& state_of(uint32_t entry) const { return shared.table(0)[entry].state; }
    /// The server lets go of the entry, and says so.
    void give_back(uint32_t entry, block_state now_on = block_state::free) {
        state_of(entry).store(now_on);
        static_cast<void>(returns.push(entry));
    }
    /// What the server would pop.
    std::vector<event_record> events() {
        std::vector<event_record> list;
        for (event_record e{}; ring.pop(e) == event_ring::consumer::outcome::popped;) list.push_back(e);
        return list;
    }

    model data;
    const segment shared;
    client_page& page = shared.page(0);
    open_iteration now;
    switched_server link;
    noted_fallback fallback;
    spill_file spill;
    server_loss loss{data, {0, 2, 0}, &shared, &link, fallback, spill, now};
    block_room room{shared, data, 0};
    server_channel channel{shared, 0, link, std::chrono::minutes(10), [](const std::string&) {}, now};
    event_ring::consumer ring{shared.events(0), shared.geometry().event_slots};
    return_ring::producer returns{shared.returns(0), shared.geometry().return_slots};
};

}  // namespace halcyon::offload::testing
