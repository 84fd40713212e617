#include "coordinate/coordinator/coordinator.hpp"

#include <algorithm>
#include <utility>

#include "coordinate/coordinator/coordinator_parts.hpp"
#include "coordinate/coordinator/refusals.hpp"
#include "coordinate/protocol/json.hpp"
#include "coordinate/protocol/plain_text.hpp"

namespace halcyon::coordinate {

namespace {

/// A list of targets takes as long to read as several messages.
double weight_of(const to_coordinator& message) {
    constexpr double targets_of_a_message = 32;
    const auto* const said = std::get_if<inform>(&message);
    return said == nullptr ? 1 : 1 + static_cast<double>(said->targets.size()) / targets_of_a_message;
}

}  // namespace

moment coordinator::parts::look(double now_s) {
    const double pause_s = clock.look(now_s);
    if (pause_s > 0) {
        ++out.counted.own_pauses;
        out.counted.own_pauses_s += pause_s;
    }
    return {clock.clock_s(), clock.heard_s()};
}

/// At once: what its application had is not kept for it.
void coordinator::parts::close(connection_id id, bool at_once) {
    const peer* const one = all.find_peer(id);
    if (one == nullptr) return;
    if (one->job != 0) ++out.counted.lost_connections;
    by_user.disconnect(one->user);
    all.disconnect(id, clock.heard_s() + (at_once ? 0 : how.dead_s));
    if (at_once) care_at_s = 0;
}

void coordinator::parts::refuse(const peer& from, uint64_t& count, std::string reason) {
    ++count;
    out.send(from.id, refused{std::move(reason)});
    out.todo.close.push_back(from.id);
    close(from.id, false);
}

void coordinator::parts::admit(peer& from, const registration& what) {
    if (what.version != protocol_version)
        return refuse(from, out.counted.refused_version,
                      "version " + std::to_string(what.version) + " of the protocol; this coordinator speaks version " +
                          std::to_string(protocol_version));
    const reservation* const held = reserved.covering(what.job);
    if (held != nullptr && held->user != from.user)
        return refuse(from, out.counted.refused_claims, reservations::refusal(what.job, *held, from.user));
    const auto done = all.admit(from, reservations::believed(what, held), clock.heard_s() + how.dead_s,
                                [&] { return by_user.register_application(from.user); });
    switch (done.how) {
        case registry::admission::other_user:
            return refuse(from, out.counted.refused_claims, "job '" + what.job + "' is of another user");
        case registry::admission::wrong_token:
            return refuse(from, out.counted.refused_claims,
                          "job '" + what.job + "' is registered already, with another secret or from this connection");
        case registry::admission::too_many:
            return refuse(from, out.counted.refused_registrations, refusals::too_many_applications(from.user, how));
        case registry::admission::new_application:
            ++out.counted.registrations;
            all.find_job(from.job)->since_s = clock.clock_s();
            break;
        default:
            break;
    }
    if (done.displaced != 0) {
        out.todo.close.push_back(done.displaced);
        close(done.displaced, false);
    }
    job& of = *all.find_job(from.job);
    out.send(from.id, registered{of.id, how.heartbeat_s, how.lease_s, phase.numbers().epoch(), how.bounds.starvation_s,
                                 how.stop_s});
    if (done.how != registry::admission::same_agent) phase.joins(of, *registry::find_agent(of, from.agent), out);
}

void coordinator::parts::answer_top(const peer& to) {
    const snapshot now = state();
    load total;
    total.rule = policy::name_of(now.rule);
    total.metric = policy::name_of(now.metric);
    total.epoch = now.epoch;
    total.applications = static_cast<int64_t>(now.applications.size());
    total.bytes_per_s = std::min(now.bytes_per_s, 1e18);
    total.unseen_share = now.unseen_share;
    total.decisions = out.counted.decisions;
    for (const application_state& one : now.applications) {
        total.moving += one.state == policy::movement::moving ? 1 : 0;
        total.waiting += one.state == policy::movement::waiting || one.state == policy::movement::interrupted ? 1 : 0;
    }
    each_count(out.counted, [&](const char* name, auto value, const char*) {
        if (value != 0) total.counts.push_back(std::string(name) + " " + std::to_string(value));
    });
    out.send(to.id, total);
    for (const application_state& one : now.applications)
        out.send(to.id,
                 application_line{one.application, one.job, one.user, one.account, one.processes, one.nodes, one.agents,
                                  name_of(one.turn, one.state), one.bytes_left, std::clamp(one.left_s, 0.0, 1e9),
                                  one.in_state_s, one.expected_wait_s, one.lease});
    for (const reservation& one : reserved.at(clock.clock_s())) out.send(to.id, one);
    out.send(to.id, end{});
}

/// Decisions compare the targets of applications: one user may not make that take long. Agents tell again what the
/// application lists already. Of one in a phase on all targets, none are kept.
bool coordinator::parts::may_list(const job& of, std::vector<uint32_t> targets) const {
    if (of.in_phase() && of.targets.empty()) return true;
    std::ranges::sort(targets);
    const auto again = std::ranges::unique(targets);
    targets.erase(again.begin(), again.end());
    std::erase_if(targets, [&](uint32_t one) { return std::ranges::binary_search(of.targets, one); });
    return targets.empty() || all.targets_of(of.user) + targets.size() <= how.per_user.targets;
}

void coordinator::parts::understand(peer& from, const to_coordinator& message, moment at) {
    if (const auto* const what = std::get_if<registration>(&message)) return admit(from, *what);
    const auto* const explained = std::get_if<explain>(&message);
    const auto* const held = std::get_if<reserve>(&message);
    const auto* const over = std::get_if<ended>(&message);
    if (explained != nullptr || held != nullptr || over != nullptr || std::holds_alternative<top>(message)) {
        if (!from.administrator)
            return refuse(from, out.counted.refused_operators, refusals::for_administrators(from.user));
        if (held != nullptr) return reserve_job(from, *held, at);
        if (over != nullptr) return end_job(from, *over, at);
        if (explained == nullptr) return answer_top(from);
        for (decided& one : phase.log().latest(static_cast<size_t>(explained->n), at.now_s))
            out.send(from.id, std::move(one));
        return out.send(from.id, end{});
    }
    if (std::holds_alternative<heartbeat>(message)) return;
    job* const of = all.find_job(from.job);
    if (of == nullptr) {
        ++out.counted.refused_unregistered;
        return out.send(from.id, error_report{refusals::not_registered(message)});
    }
    agent& by = *registry::find_agent(*of, from.agent);
    if (const auto* const said = std::get_if<inform>(&message)) {
        if (may_list(*of, said->targets)) return phase.informed(all, *of, by, *said, at, out);
        ++out.counted.dropped_targets;
        inform of_all = *said;
        of_all.targets.clear();
        return phase.informed(all, *of, by, of_all, at, out);
    }
    if (const auto* const said = std::get_if<expect>(&message)) return phase.expects(all, *of, by, *said, at);
    if (const auto* const said = std::get_if<progress>(&message)) return phase.progressed(all, *of, by, *said, at, out);
    if (const auto* const said = std::get_if<stopping>(&message)) return phase.answered(all, *of, by, *said, at, out);
    if (const auto* const said = std::get_if<stopped>(&message)) return phase.stopped(all, *of, by, *said, at, out);
    if (const auto* const said = std::get_if<release>(&message)) return phase.released(all, *of, by, *said, at, out);
    if (std::holds_alternative<withdraw>(message)) return phase.leaves(all, *of, by, at, out, by_user);
}

/// What time brings: each heartbeat.
void coordinator::parts::care(moment at) {
    std::vector<connection_id> silent;
    for (const auto& [id, one] : all.peers())
        if (told_until_heard_s - one.heard_s > how.stalled_s && (!one.administrator || one.job != 0))
            silent.push_back(id);
    for (const connection_id id : silent) {
        ++out.counted.silent_agents;
        out.todo.close.push_back(id);
        close(id, true);
    }
    watch.expire(all, phase, by_user, at, out);
    out.counted.expired_reservations += reserved.expire(at.now_s, how.reservation_s, [&](const reservation& one) {
        return std::ranges::any_of(all.jobs(), [&](const auto& each) { return is_of_job(each.second.name, one.job); });
    });
    by_user.forget_idle(at.now_s);
    care_at_s = at.now_s + how.heartbeat_s;
}

/// Each heartbeat, whatever else was said a moment ago: half a heartbeat more, and a long decision behind it, would be
/// as long as the silence in which leases end.
void coordinator::parts::beat(moment at) {
    for (const effects::outgoing& one : out.todo.messages)
        if (peer* const to = all.find_peer(one.to)) to->sent_s = at.now_s;
    for (auto& [id, one] : all.peers()) {
        if (one.job == 0 || one.sent_s >= at.now_s) continue;
        out.send(id, heartbeat{});
        one.sent_s = at.now_s;
    }
    beat_at_s = at.now_s + how.heartbeat_s;
}

/// What is to be done by now.
const effects& coordinator::parts::give(moment at) {
    if (at.now_s >= beat_at_s) beat(at);
    std::swap(given, out.todo);
    out.todo.messages.clear();
    out.todo.close.clear();
    given.wake_at_s = std::min({care_at_s, beat_at_s, judge.decide_at_s()});
    given.new_epoch_needed = phase.numbers().nearly_used_up();
    return given;
}

snapshot coordinator::parts::state() const {
    const double now_s = clock.clock_s();
    snapshot now;
    now.rule = how.rule;
    now.metric = how.metric;
    now.epoch = phase.numbers().epoch();
    now.unseen_share = phase.learned().unseen_share();
    now.interruption_s = judge.interruption_s();
    now.connections = static_cast<uint32_t>(all.peers().size());
    now.decisions_by_reason = phase.log().by_reason();
    const expected_waits waits = judge.waits(all, phase, by_user, now_s);
    for (const auto& [id, one] : all.jobs()) {
        application_state as;
        as.application = id;
        as.job = one.name;
        as.user = one.user;
        as.account = one.account;
        as.processes = one.processes();
        as.nodes = one.nodes();
        as.agents = static_cast<int64_t>(one.agents.size());
        as.state = one.state;
        as.turn = one.has.stage();
        as.bytes_left = one.bytes_left();
        as.left_s = one.left_s(now_s);
        as.in_state_s = now_s - one.since_s;
        as.expected_wait_s = one.has.any() ? 0 : waits.of(id);
        as.lease = one.has.lease();
        now.applications.push_back(std::move(as));
        if (one.moves())
            for (const agent& each : one.agents) now.bytes_per_s += each.phase ? each.speed.bytes_per_s() : 0;
    }
    return now;
}

coordinator::coordinator(const settings& how, uint64_t epoch, double now_s)
    : parts_(std::make_unique<parts>(how, epoch, now_s)) {}
coordinator::~coordinator() = default;
coordinator::coordinator(const coordinator& other) : parts_(std::make_unique<parts>(*other.parts_)) {}
coordinator& coordinator::operator=(const coordinator& other) {
    if (this != &other) *parts_ = *other.parts_;
    return *this;
}
coordinator::coordinator(coordinator&&) noexcept = default;
coordinator& coordinator::operator=(coordinator&&) noexcept = default;

void coordinator::connected(connection_id connection, uint32_t user, bool administrator, double now_s) {
    const moment at = parts_->look(now_s);
    if (!parts_->by_user.connect(user, at.now_s)) {
        ++parts_->out.counted.refused_connections;
        parts_->out.todo.messages.push_back({connection, refused{refusals::too_many_connections(user, parts_->how)}});
        parts_->out.todo.close.push_back(connection);
        return;
    }
    parts_->all.connect({connection, user, administrator, 0, 0, at.heard_s, at.now_s});
}

void coordinator::received(connection_id connection, std::string_view line, double now_s) {
    peer* const from = parts_->all.find_peer(connection);
    if (from == nullptr) return;
    const auto message = decode_to_coordinator(line);
    if (const auto* const understood = std::get_if<to_coordinator>(&message))
        return received(connection, *understood, now_s);
    const auto& wrong = std::get<rejection>(message);
    counts& counted = parts_->out.counted;
    switch (wrong.what) {
        case rejection::kind::not_json:
            ++counted.refused_not_json;
            break;
        case rejection::kind::unknown_type:
            ++counted.refused_unknown_type;
            break;
        case rejection::kind::wrong_field:
            ++counted.refused_wrong_field;
            break;
    }
    const moment at = parts_->look(now_s);
    from->heard_s = at.heard_s;
    if (!parts_->by_user.message(from->user, 1, at.now_s))
        return parts_->refuse(*from, counted.refused_rate, refusals::too_many_messages(from->user, parts_->how));
    parts_->out.send(connection, error_report{wrong.text()});
}

void coordinator::received(connection_id connection, const to_coordinator& message, double now_s) {
    const moment at = parts_->look(now_s);
    peer* const from = parts_->all.find_peer(connection);
    if (from == nullptr) return;
    ++parts_->out.counted.messages;
    from->heard_s = at.heard_s;
    if (!parts_->by_user.message(from->user, weight_of(message), at.now_s))
        return parts_->refuse(*from, parts_->out.counted.refused_rate,
                              refusals::too_many_messages(from->user, parts_->how));
    parts_->understand(*from, message, at);
}

void coordinator::refused_line(connection_id connection, double now_s) {
    parts_->look(now_s);
    if (parts_->all.find_peer(connection) != nullptr) ++parts_->out.counted.refused_not_json;
}

void coordinator::disconnected(connection_id connection, double now_s) {
    parts_->look(now_s);
    parts_->close(connection, false);
}

void coordinator::speaks(connection_id connection, double now_s) {
    const moment at = parts_->look(now_s);
    if (peer* const from = parts_->all.find_peer(connection)) from->heard_s = at.heard_s;
}

std::vector<reservation> coordinator::announced() const {
    return parts_->reserved.at(parts_->clock.clock_s());
}

void coordinator::take_over(std::vector<reservation> announced) {
    for (reservation& one : announced) parts_->reserved.restore(std::move(one), parts_->clock.clock_s());
}

const effects& coordinator::advance(double now_s, bool all_told) {
    parts& p = *parts_;
    const moment at = p.look(now_s);
    if (all_told) p.told_until_heard_s = at.heard_s;
    const bool cares = at.now_s >= p.care_at_s;
    if (cares) p.care(at);
    p.judge.decide(p.all, p.phase, p.watch, p.by_user, at, p.out);
    p.judge.tell_waits(p.all, p.phase, p.by_user, cares, at, p.out);
    p.phase.tell_others(p.all, p.out);
    return p.give(at);
}

/// A heartbeat that would be due during the decision goes before it.
const effects& coordinator::speak(double now_s) {
    parts& p = *parts_;
    const moment at = p.look(now_s);
    const bool decides = p.phase.has_changed() || at.now_s >= p.judge.decide_at_s();
    if (decides && at.now_s >= p.beat_at_s - p.how.heartbeat_s / 2) p.beat(at);
    return p.give(at);
}

const effects& coordinator::resign(const char* reason) {
    parts& p = *parts_;
    p.out.todo = {};
    p.phase.void_all(p.all, reason, p.out);
    p.given = std::exchange(p.out.todo, {});
    return p.given;
}

snapshot coordinator::state() const {
    return parts_->state();
}
const counts& coordinator::counted() const {
    return parts_->out.counted;
}

}  // namespace halcyon::coordinate
