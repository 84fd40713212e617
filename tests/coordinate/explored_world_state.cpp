// What tells states of the world apart, and how they are shown.
#include "coordinate/explored_world.hpp"

namespace halcyon::coordinate {

digest::value world::hash() const {
    digest all;
    for (size_t storage = 0; storage < told_.size(); ++storage) {
        coordinator_digest::collect(told_[storage], all);
        for (const application_agent& one : agents_) {
            const link& by = one.links[storage];
            all.collect(by.connection);
            all.collect(by.lease);
            all.collect(by.called_back);
        }
    }
    const auto leases_of = [](const auto& message, auto&& see) {
        std::visit(
            [&](const auto& m) {
                if constexpr (requires { m.lease; }) see(m.lease);
            },
            message);
    };
    for (const application_agent& one : agents_)
        for (const link& by : one.links) {
            for (const auto& m : by.in) leases_of(m, [&](uint64_t lease) { all.collect(lease); });
            for (const auto& m : by.out) leases_of(m, [&](uint64_t lease) { all.collect(lease); });
        }
    all.rank();
    for (const coordinator& each : told_) coordinator_digest::put(each, all);
    const auto put_message = [&](const auto& message) {
        all.put(message.index());
        leases_of(message, [&](uint64_t lease) { all.put_ranked(lease); });
        std::visit(
            [&](const auto& m) {
                if constexpr (requires { m.phase; }) all.put(m.phase);
                if constexpr (requires { m.round; }) all.put(m.round);
            },
            message);
    };
    for (const application_agent& one : agents_) {
        all.put(one.at * 4 + (one.in_round ? 2 : 0) + (one.left ? 1 : 0));
        all.put(one.round);
        for (const link& by : one.links) {
            all.put_ranked(by.connection);
            all.put_ranked(by.in_phase || by.standing ? by.lease : 0);
            all.put(by.phase * 8 + (by.in_phase ? 4 : 0) + (by.may_move ? 2 : 0) + (by.standing ? 1 : 0));
            all.put(by.stop_before * 4 + (by.stop_known ? 2 : 0) + (by.untold ? 1 : 0));
            all.put_ranked(by.called_back);
            all.put(by.connection == 0 ? static_cast<uint64_t>(by.offline_ticks) : 0);
            all.put(by.in.size());
            for (const auto& m : by.in) put_message(m);
            all.put(by.out.size());
            for (const auto& m : by.out) put_message(m);
        }
    }
    for (const int budget : {disconnects_, restarts_, ticks_, waited_}) all.put(static_cast<uint64_t>(budget));
    return all.get();
}

std::string world::text() const {
    std::string text;
    for (const coordinator& each : told_)
        for (const application_state& one : each.state().applications)
            text +=
                one.job + " " + name_of(one.turn, one.state) + ", lease " + std::to_string(one.lease & 0xffffU) + "; ";
    for (const application_agent& one : agents_) {
        text += "agent at step " + std::to_string(one.at) + " round " + std::to_string(one.round) +
                (one.in_round ? "+" : "") + (one.left ? " left" : "");
        for (const link& by : one.links)
            text += std::string(" [") + (by.connection != 0 ? "on" : "off") + (by.in_phase ? " phase" : "") +
                    (by.may_move ? " moves" : "") + " lease " + std::to_string(by.lease & 0xffffU) + " in " +
                    std::to_string(by.in.size()) + " out " + std::to_string(by.out.size()) + "]";
        text += "; ";
    }
    return text;
}

}  // namespace halcyon::coordinate
