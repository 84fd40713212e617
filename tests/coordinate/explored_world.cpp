#include "coordinate/explored_world.hpp"

#include <algorithm>
#include <utility>

namespace halcyon::coordinate {

namespace {

constexpr double tick_s = 1;
constexpr int longest_wait_ticks = 24;

settings settings_of(const scenario& of) {
    settings how;
    how.rule = of.rule;
    how.bounds.starvation_s = 1e6;  // the order alone has to serve everybody
    how.bounds.alternatives = false;
    how.interference.pairs = 2;
    how.heartbeat_s = tick_s;
    how.dead_s = tick_s;
    how.relearn_s = tick_s;
    how.stalled_s = of.stalled_s;
    how.stop_s = of.stalled_s;
    how.decisions_kept = 1;
    return how;
}

}  // namespace

std::string world::action::text() const {
    static const char* const names[] = {"message to",  "message of", "step of", "connects",
                                        "disconnects", "restart",    "tick",    "wait"};
    return std::string(names[static_cast<size_t>(what)]) + " " + std::to_string(agent) + "@" + std::to_string(storage);
}

world::world(const scenario& of)
    : how_(&of), disconnects_(of.disconnects), restarts_(of.restarts), ticks_(of.ticks), highest_fence_(of.storages) {
    for (size_t storage = 0; storage < of.storages; ++storage) told_.emplace_back(settings_of(of), 1, now_s_);
    for (size_t application = 0; application < of.programs.size(); ++application)
        for (uint8_t i = 0; i < of.agents[application]; ++i) {
            application_agent one;
            one.application = application;
            one.links.resize(of.storages);
            agents_.push_back(one);
        }
    for (application_agent& one : agents_)
        for (size_t storage = 0; storage < of.storages && one.application < of.first_late; ++storage)
            connect(one, storage);
    // They are registered, and relearning is over.
    for (bool more = true; more;) {
        more = false;
        for (const action& each : possible())
            if (each.what == action::kind::to_agent || each.what == action::kind::to_coordinator) {
                apply(each);
                more = true;
                break;
            }
    }
    tick();
    tick();
}

bool world::done() const {
    return std::ranges::all_of(agents_, [](const application_agent& one) {
        return one.left &&
               std::ranges::all_of(one.links, [](const link& l) { return l.out.empty() || l.connection == 0; });
    });
}

bool world::must_hand_back(const application_agent& of, size_t storage) const {
    if (!how_->hand_back) return false;
    for (size_t other = 0; other < of.links.size(); ++other)
        if (other != storage && of.links[other].in_phase && of.links[other].may_move) return true;
    return false;
}

bool world::can_act(const application_agent& of) const {
    if (of.left) return false;
    if (ended(of)) return std::ranges::all_of(of.links, [](const link& l) { return l.connection != 0; });
    const step next = program(of)[of.at];
    const link& by = of.links[next.storage];
    if (next.what == step::kind::begin) return true;
    const auto all_peers = [&](auto holds) {
        return std::ranges::all_of(agents_, [&](const application_agent& peer) {
            return &peer == &of || peer.application != of.application || holds(peer);
        });
    };
    if (next.what == step::kind::round) {
        if (of.in_round) return all_peers([&](const application_agent& peer) { return peer.round >= of.round; });
        if (!by.in_phase) return true;  // asks again
        if (!by.may_move) return must_hand_back(of, next.storage);
        if (by.stop_before != 0 && of.round + 1 >= by.stop_before) return false;
        // No collective begins before all have left the one before.
        return all_peers([&](const application_agent& peer) {
            return peer.round > of.round || (peer.round == of.round && !peer.in_round);
        });
    }
    return true;
}

void world::inform_at(application_agent& of, link& by, uint64_t shown_lease) {
    by.in_phase = true;
    by.untold = by.called_back != 0;
    if (by.untold) return;
    inform what;
    what.phase = by.phase;
    what.left_s = what.alone_s = 1;
    what.bytes_left = 1000;
    what.round = of.round;
    what.lease = shown_lease;
    what.fence = by.fence;
    if (by.connection != 0) by.out.push_back(what);
}

void world::begin_phase(application_agent& of, link& by) {
    ++by.phase;
    by.may_move = std::exchange(by.standing, false);
    if (!by.may_move) by.lease = 0;
    inform_at(of, by, by.lease);
}

void world::act(application_agent& of) {
    if (ended(of)) {
        of.left = true;
        for (link& each : of.links) {
            each.out.push_back(withdraw{});
            each.may_move = each.standing = false;
        }
        return;
    }
    const step next = program(of)[of.at];
    link& by = of.links[next.storage];
    switch (next.what) {
        case step::kind::begin:
            begin_phase(of, by);
            ++of.at;
            break;
        case step::kind::round:
            if (of.in_round) {
                of.in_round = false;
                ++of.at;
                if (by.connection != 0) {
                    progress moved;
                    moved.phase = by.phase;
                    moved.lease = by.lease;
                    moved.bytes_moved = 100;
                    by.out.push_back(moved);
                }
                stop_if_due(of, by);
            } else if (!by.in_phase) {
                begin_phase(of, by);
            } else if (by.may_move) {
                ++of.round;
                of.in_round = true;
            } else {
                for (size_t other = 0; other < of.links.size(); ++other) {
                    link& each = of.links[other];
                    if (other == next.storage || !each.in_phase || !each.may_move) continue;
                    if (each.connection != 0) each.out.push_back(release{each.phase});
                    each.in_phase = false;
                    drop_turn(each);
                    each.lease = 0;
                }
            }
            break;
        case step::kind::end:
            if (by.in_phase && by.connection != 0) by.out.push_back(release{by.phase});
            by.in_phase = false;
            drop_turn(by);
            by.lease = 0;
            ++of.at;
            break;
    }
}

void world::stop_if_due(application_agent& of, link& by) {
    if (!by.stop_known || of.in_round || of.round + 1 < by.stop_before) return;
    drop_turn(by);
    if (by.connection != 0) by.out.push_back(stopped{by.lease});
}

/// Of a lease that was given back before.
void world::end_call_back(application_agent& of, link& by) {
    by.called_back = 0;
    if (by.untold) inform_at(of, by, 0);
}

void world::drop_turn(link& by) {
    by.may_move = by.standing = by.stop_known = false;
    by.stop_before = 0;
}

void world::heard(application_agent& of, size_t storage, const from_coordinator& message) {
    link& by = of.links[storage];
    if (of.left) return;
    if (const auto* const given = std::get_if<grant>(&message)) {
        if (given->fence < by.fence) violation_ = "a fencing number fell";
        by.fence = given->fence;
        if (given->phase != by.phase || !by.in_phase) return;
        drop_turn(by);
        by.called_back = 0;
        by.may_move = true;
        by.lease = given->lease;
    } else if (const auto* const any = std::get_if<standing>(&message)) {
        by.fence = any->fence;
        if (!by.in_phase && !of.left) by.standing = true, by.lease = any->lease;
        if (by.called_back != any->lease) end_call_back(of, by);
    } else if (const auto* const back = std::get_if<recall>(&message)) {
        const bool moves = by.in_phase && by.may_move && by.lease == back->lease;
        by.standing = by.standing && by.lease != back->lease;
        if (by.connection == 0) return;
        by.out.push_back(stopping{back->lease, of.round});
        if (moves)
            by.stop_before = of.round + 1;
        else
            by.called_back = back->lease;
    } else if (const auto* const until = std::get_if<stop>(&message)) {
        if (by.in_phase && by.may_move && by.lease == until->lease) {
            by.stop_before = until->round;
            by.stop_known = true;
            if (of.round >= until->round) violation_ = "a round was begun that is to be stopped before";
            stop_if_due(of, by);
        } else if (by.connection != 0) {
            by.out.push_back(stopped{until->lease});
            end_call_back(of, by);
        }
    } else if (const auto* const lost = std::get_if<voided>(&message)) {
        if (by.called_back == lost->lease) end_call_back(of, by);
        if (by.lease != lost->lease) return;
        drop_turn(by);
        by.lease = 0;
        if (!by.in_phase) return;
        ++by.phase;
        inform_at(of, by, 0);
    } else if (const auto* const no = std::get_if<refused>(&message)) {
        violation_ = "refused: " + no->reason;
    } else if (const auto* const error = std::get_if<error_report>(&message)) {
        violation_ = "error: " + error->reason;
    }
}

void world::connect(application_agent& of, size_t storage) {
    link& by = of.links[storage];
    by.connection = ++last_connection_;
    by.called_back = 0;
    by.offline_ticks = 0;
    told_[storage].connected(by.connection, 1000 + static_cast<uint32_t>(of.application), false, now_s_);
    registration what;
    what.job = "job" + std::to_string(of.application);
    what.node = "node" + std::to_string(&of - agents_.data());
    what.secret = "secret of " + what.job + ", long enough";
    by.out.push_back(what);
    if (by.in_phase) inform_at(of, by, by.may_move ? by.lease : 0);
}

void world::settle(size_t storage) {
    const effects& done = told_[storage].advance(now_s_);
    for (const effects::outgoing& one : done.messages) {
        if (const auto* const given = std::get_if<grant>(&one.message)) {
            if (given->fence <= highest_fence_[storage]) violation_ = "a fencing number came twice";
            highest_fence_[storage] = given->fence;
        }
        if (std::holds_alternative<heartbeat>(one.message) || std::holds_alternative<wait>(one.message) ||
            std::holds_alternative<registered>(one.message))
            continue;
        for (application_agent& each : agents_)
            if (each.links[storage].connection == one.to) each.links[storage].in.push_back(one.message);
    }
    for (const connection_id id : done.close)
        for (application_agent& each : agents_)
            if (each.links[storage].connection == id) violation_ = "an agent was closed";
}

/// Agents that are not connected give up their leases just before the coordinator may.
void world::tick() {
    now_s_ += tick_s;
    for (application_agent& one : agents_)
        for (size_t storage = 0; storage < one.links.size(); ++storage) {
            link& by = one.links[storage];
            if (by.connection != 0) {
                told_[storage].received(by.connection, heartbeat{}, now_s_);
            } else if (++by.offline_ticks >= 1) {
                drop_turn(by);
            }
        }
    for (size_t storage = 0; storage < told_.size(); ++storage) settle(storage);
}

std::vector<world::action> world::possible() const {
    std::vector<action> all;
    using kind = action::kind;
    for (size_t i = 0; i < agents_.size(); ++i) {
        const application_agent& one = agents_[i];
        for (size_t storage = 0; storage < one.links.size(); ++storage) {
            const link& by = one.links[storage];
            if (!by.in.empty()) all.push_back({kind::to_agent, i, storage});
            if (!by.out.empty() && by.connection != 0) all.push_back({kind::to_coordinator, i, storage});
            if (by.connection == 0) all.push_back({kind::connect, i, storage});
        }
        if (can_act(one)) all.push_back({kind::act, i, 0});
    }
    if (all.empty() && !done() && waited_ < longest_wait_ticks) return {{kind::wait}};
    if (done()) return {};
    if (disconnects_ > 0)
        for (size_t i = how_->first_to_lose; i < agents_.size() && i <= how_->last_to_lose; ++i)
            for (size_t storage = 0; storage < agents_[i].links.size(); ++storage)
                if (agents_[i].links[storage].connection != 0 && !agents_[i].left)
                    all.push_back({kind::disconnect, i, storage});
    if (restarts_ > 0) all.push_back({kind::restart});
    if (ticks_ > 0) all.push_back({kind::tick});
    return all;
}

void world::apply(const action& which) {
    using kind = action::kind;
    waited_ = which.what == kind::wait ? waited_ + 1 : 0;
    if (which.what == kind::tick) --ticks_;
    if (which.what == kind::tick || which.what == kind::wait) return tick();
    if (which.what == kind::restart) {
        --restarts_;
        for (size_t storage = 0; storage < told_.size(); ++storage) {
            told_[storage] = coordinator(settings_of(*how_), 2, now_s_);
            for (application_agent& each : agents_) {
                each.links[storage].connection = 0;
                each.links[storage].in.clear();
                each.links[storage].out.clear();
                each.links[storage].standing = false;
                each.links[storage].stop_before = 0;  // the new one knows of no recall
                each.links[storage].stop_known = false;
            }
        }
        return;
    }
    application_agent& one = agents_[which.agent];
    link& by = one.links[which.storage];
    switch (which.what) {
        case kind::to_agent: {
            const from_coordinator message = by.in.front();
            by.in.erase(by.in.begin());
            heard(one, which.storage, message);
            break;
        }
        case kind::to_coordinator: {
            const to_coordinator message = by.out.front();
            by.out.erase(by.out.begin());
            told_[which.storage].received(by.connection, message, now_s_);
            settle(which.storage);
            break;
        }
        case kind::act:
            act(one);
            break;
        case kind::connect:
            connect(one, which.storage);
            break;
        case kind::disconnect: {
            --disconnects_;
            const connection_id was = by.connection;
            by.connection = 0;
            by.in.clear();
            by.out.clear();
            by.standing = false;
            told_[which.storage].disconnected(was, now_s_);
            settle(which.storage);
            break;
        }
        default:
            break;
    }
}

/// Of a lease that has ended: what says so is under way, or the agent is about to show the lease to a new coordinator.
bool world::is_about_to_know(const link& by) const {
    const auto ends_it = [&](const from_coordinator& message) {
        const auto* const lost = std::get_if<voided>(&message);
        return lost != nullptr && lost->lease == by.lease;
    };
    const auto shows_it = [&](const to_coordinator& message) {
        const auto* const said = std::get_if<inform>(&message);
        return said != nullptr && said->lease == by.lease;
    };
    return by.connection == 0 || std::ranges::any_of(by.in, ends_it) || std::ranges::any_of(by.out, shows_it);
}

std::string world::violation() const {
    if (!violation_.empty()) return violation_;
    for (size_t storage = 0; storage < told_.size(); ++storage) {
        std::vector<uint64_t> valid;
        for (const application_state& one : told_[storage].state().applications)
            if (one.turn != turn_stage::none) valid.push_back(one.lease);
        if (valid.size() > 1) return "two applications have the turn";
        // What agents believe.
        size_t mover = how_->programs.size();
        for (const application_agent& each : agents_) {
            const link& by = each.links[storage];
            const bool nothing_comes = by.connection != 0 && by.in.empty() && by.out.empty();
            if (by.called_back != 0 && !each.left && nothing_comes &&
                std::ranges::find(valid, by.called_back) == valid.end())
                return "an agent waits for a stop that will not come";
            if (!by.may_move && !by.standing) continue;
            if (std::ranges::find(valid, by.lease) == valid.end()) {
                if (!is_about_to_know(by))
                    return "an agent goes on under a lease that has ended, and nothing tells it so";
                continue;
            }
            if (mover != how_->programs.size() && mover != each.application) return "two applications move";
            mover = each.application;
        }
    }
    return {};
}

}  // namespace halcyon::coordinate
