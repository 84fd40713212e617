#pragma once

#include <array>
#include <concepts>
#include <type_traits>

#include "coordinate/protocol/messages.hpp"

/// The fields of each message with their ranges: writing, reading and tests follow this list. A visitor has
///   whole(name, integer, least, most, need), number(name, double, least, most, need),
///   text(name, string, shortest, longest, need), choice(name, enumerator, names, need),
///   and for vectors wholes(name, integers, longest), numbers(name, doubles, longest), texts(name, strings, longest).
/// Texts hold no control characters. Vectors may always be left out.
namespace halcyon::coordinate {

enum class need : uint8_t { required, optional };

inline constexpr double longest_s = 1e9;
inline constexpr int64_t most_bytes = int64_t{1} << 60U;
inline constexpr int64_t most_processes = 1'000'000'000;
inline constexpr int64_t longest_user = 0xffffffff;
inline constexpr uint64_t any_number = ~uint64_t{0};
inline constexpr size_t longest_name = 256;
inline constexpr size_t longest_reason = 1024;
inline constexpr size_t most_targets = 4096;
inline constexpr size_t most_listed = 256;
inline constexpr int64_t most_explained = 4096;
inline constexpr std::array<std::string_view, 3> operation_names = {"write", "read", "metadata"};

template <class Given, class Message>
concept message_of = std::same_as<std::remove_const_t<Given>, Message>;

template <class Visitor, message_of<registration> M>
void each_field(Visitor& v, M& m) {
    v.whole("version", m.version, 1, 1'000'000, need::required);
    v.text("job", m.job, 1, longest_name, need::required);
    v.whole("processes", m.processes, 1, most_processes, need::required);
    v.whole("nodes", m.nodes, 1, most_processes, need::required);
    v.text("node", m.node, 1, longest_name, need::required);
    v.whole("mount", m.mount, 0, most_mounts - 1, need::optional);
    v.text("account", m.account, 0, longest_name, need::optional);
    v.text("secret", m.secret, 16, longest_name, need::required);
}

template <class Visitor, message_of<inform> M>
void each_field(Visitor& v, M& m) {
    v.whole("phase", m.phase, 1, any_number, need::required);
    v.choice("operation", m.operation, operation_names, need::required);
    v.whole("bytes_left", m.bytes_left, 0, most_bytes, need::optional);
    v.whole("bytes_moved", m.bytes_moved, 0, most_bytes, need::optional);
    v.number("alone_s", m.alone_s, 0, longest_s, need::optional);
    v.number("left_s", m.left_s, 0, longest_s, need::optional);
    v.number("demand", m.demand, 0, 1, need::optional);
    v.number("weight", m.weight, 0, 1e9, need::optional);
    v.number("between_starts_s", m.between_starts_s, 0, longest_s, need::optional);
    v.wholes("targets", m.targets, most_targets);
    v.whole("round", m.round, 0, any_number - 1, need::optional);
    v.whole("lease", m.lease, 0, any_number, need::optional);
    v.whole("fence", m.fence, 0, any_number, need::optional);
}

template <class Visitor, message_of<expect> M>
void each_field(Visitor& v, M& m) {
    v.number("in_s", m.in_s, 0, longest_s, need::required);
    v.number("deviation_s", m.deviation_s, 0, longest_s, need::optional);
    v.number("probability", m.probability, 0, 1, need::optional);
    v.number("alone_s", m.alone_s, 0, longest_s, need::optional);
    v.whole("bytes", m.bytes, 0, most_bytes, need::optional);
    v.number("demand", m.demand, 0, 1, need::optional);
}

template <class Visitor, message_of<progress> M>
void each_field(Visitor& v, M& m) {
    v.whole("phase", m.phase, 1, any_number, need::required);
    v.whole("lease", m.lease, 0, any_number, need::optional);
    v.whole("bytes_moved", m.bytes_moved, 0, most_bytes, need::required);
    v.whole("bytes_left", m.bytes_left, 0, most_bytes, need::optional);
    v.number("left_s", m.left_s, 0, longest_s, need::optional);
    v.number("speed", m.speed, 0, 1e3, need::optional);
    v.number("speed_s", m.speed_s, 0, longest_s, need::optional);
    v.number("over_s", m.over_s, 0, longest_s, need::optional);
    v.whole("under_way", m.under_way, 0, most_processes, need::optional);
}

template <class Visitor, message_of<stopping> M>
void each_field(Visitor& v, M& m) {
    v.whole("lease", m.lease, 1, any_number, need::required);
    v.whole("round", m.round, 0, any_number - 1, need::required);
}

template <class Visitor, message_of<stopped> M>
void each_field(Visitor& v, M& m) {
    v.whole("lease", m.lease, 1, any_number, need::required);
}

template <class Visitor, message_of<release> M>
void each_field(Visitor& v, M& m) {
    v.whole("phase", m.phase, 1, any_number, need::required);
}

template <class Visitor, message_of<withdraw> M>
void each_field(Visitor&, M&) {}

template <class Visitor, message_of<heartbeat> M>
void each_field(Visitor&, M&) {}

template <class Visitor, message_of<top> M>
void each_field(Visitor&, M&) {}

template <class Visitor, message_of<explain> M>
void each_field(Visitor& v, M& m) {
    v.whole("n", m.n, 1, most_explained, need::optional);
}

template <class Visitor, message_of<reserve> M>
void each_field(Visitor& v, M& m) {
    v.text("job", m.job, 1, longest_name, need::required);
    v.whole("user", m.user, 0, longest_user, need::required);
    v.whole("processes", m.processes, 0, most_processes, need::optional);
    v.whole("nodes", m.nodes, 0, most_processes, need::optional);
}

template <class Visitor, message_of<ended> M>
void each_field(Visitor& v, M& m) {
    v.text("job", m.job, 1, longest_name, need::required);
}

template <class Visitor, message_of<registered> M>
void each_field(Visitor& v, M& m) {
    v.whole("application", m.application, 1, any_number, need::required);
    v.number("heartbeat_s", m.heartbeat_s, 0, longest_s, need::required);
    v.number("lease_s", m.lease_s, 0, longest_s, need::required);
    v.whole("epoch", m.epoch, 0, any_number >> 32U, need::required);
    v.number("starvation_s", m.starvation_s, 0, longest_s, need::optional);
    v.number("stop_s", m.stop_s, 0, longest_s, need::optional);
}

template <class Visitor, message_of<refused> M>
void each_field(Visitor& v, M& m) {
    v.text("reason", m.reason, 0, longest_reason, need::required);
    v.number("again_s", m.again_s, 0, longest_s, need::optional);
}

template <class Visitor, message_of<error_report> M>
void each_field(Visitor& v, M& m) {
    v.text("reason", m.reason, 0, longest_reason, need::required);
}

template <class Visitor, message_of<grant> M>
void each_field(Visitor& v, M& m) {
    v.whole("phase", m.phase, 1, any_number, need::required);
    v.whole("lease", m.lease, 1, any_number, need::required);
    v.whole("bytes", m.bytes, 1, most_bytes, need::required);
    v.whole("fence", m.fence, 1, any_number, need::required);
}

template <class Visitor, message_of<recall> M>
void each_field(Visitor& v, M& m) {
    v.whole("lease", m.lease, 1, any_number, need::required);
}

template <class Visitor, message_of<stop> M>
void each_field(Visitor& v, M& m) {
    v.whole("lease", m.lease, 1, any_number, need::required);
    v.whole("round", m.round, 1, any_number, need::required);
}

template <class Visitor, message_of<voided> M>
void each_field(Visitor& v, M& m) {
    v.whole("lease", m.lease, 1, any_number, need::required);
    v.text("reason", m.reason, 0, longest_reason, need::required);
}

template <class Visitor, message_of<standing> M>
void each_field(Visitor& v, M& m) {
    v.whole("lease", m.lease, 1, any_number, need::required);
    v.whole("bytes", m.bytes, 1, most_bytes, need::required);
    v.whole("fence", m.fence, 1, any_number, need::required);
}

template <class Visitor, message_of<wait> M>
void each_field(Visitor& v, M& m) {
    v.whole("phase", m.phase, 1, any_number, need::required);
    v.number("expected_s", m.expected_s, 0, longest_s, need::required);
    v.texts("holders", m.holders, most_listed);
    v.whole("in_phase", m.in_phase, 0, most_bytes, need::optional);
}

template <class Visitor, message_of<company> M>
void each_field(Visitor& v, M& m) {
    v.whole("lease", m.lease, 1, any_number, need::required);
    v.whole("others", m.others, 0, most_processes, need::required);
    v.whole("registered", m.registered, 0, most_processes, need::optional);
}

template <class Visitor, message_of<load> M>
void each_field(Visitor& v, M& m) {
    v.text("rule", m.rule, 0, longest_name, need::required);
    v.text("metric", m.metric, 0, longest_name, need::required);
    v.whole("epoch", m.epoch, 0, any_number >> 32U, need::required);
    v.whole("applications", m.applications, 0, most_bytes, need::required);
    v.whole("moving", m.moving, 0, most_bytes, need::required);
    v.whole("waiting", m.waiting, 0, most_bytes, need::required);
    v.number("bytes_per_s", m.bytes_per_s, 0, 1e18, need::required);
    v.number("unseen_share", m.unseen_share, 0, 1, need::optional);
    v.whole("decisions", m.decisions, 0, any_number, need::required);
    v.texts("counts", m.counts, most_listed);
}

template <class Visitor, message_of<application_line> M>
void each_field(Visitor& v, M& m) {
    v.whole("application", m.application, 1, any_number, need::required);
    v.text("job", m.job, 0, longest_name, need::required);
    v.whole("user", m.user, 0, most_bytes, need::required);
    v.text("account", m.account, 0, longest_name, need::required);
    v.whole("processes", m.processes, 0, most_bytes, need::required);
    v.whole("nodes", m.nodes, 0, most_bytes, need::required);
    v.whole("agents", m.agents, 0, most_bytes, need::required);
    v.text("state", m.state, 0, longest_name, need::required);
    v.whole("bytes_left", m.bytes_left, 0, most_bytes, need::required);
    v.number("left_s", m.left_s, 0, longest_s, need::required);
    v.number("in_state_s", m.in_state_s, 0, longest_s, need::required);
    v.number("expected_wait_s", m.expected_wait_s, 0, longest_s, need::required);
    v.whole("lease", m.lease, 0, any_number, need::required);
}

template <class Visitor, message_of<reservation> M>
void each_field(Visitor& v, M& m) {
    v.text("job", m.job, 1, longest_name, need::required);
    v.whole("user", m.user, 0, longest_user, need::required);
    v.whole("processes", m.processes, 0, most_processes, need::required);
    v.whole("nodes", m.nodes, 0, most_processes, need::required);
    v.number("since_s", m.since_s, 0, longest_s, need::required);
}

template <class Visitor, message_of<decided> M>
void each_field(Visitor& v, M& m) {
    v.number("ago_s", m.ago_s, 0, longest_s, need::required);
    v.text("why", m.why, 0, longest_name, need::required);
    v.text("text", m.text, 0, longest_reason, need::required);
    v.texts("move", m.move, most_listed);
    v.texts("stop", m.stop, most_listed);
    v.texts("ways", m.ways, most_listed);
    v.numbers("costs", m.costs, most_listed);
    v.number("observed_cost", m.observed_cost, -1, 1e300, need::required);
    v.texts("jobs", m.jobs, most_listed);
    v.numbers("left_s", m.left_s, most_listed);
    v.numbers("demands", m.demands, most_listed);
    v.number("unseen_share", m.unseen_share, 0, 1, need::required);
}

template <class Visitor, message_of<job_over> M>
void each_field(Visitor& v, M& m) {
    v.whole("applications", m.applications, 0, most_bytes, need::required);
}

template <class Visitor, message_of<end> M>
void each_field(Visitor&, M&) {}

}  // namespace halcyon::coordinate
