#include "coordinate/daemon/metrics_text.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace halcyon::coordinate {
namespace {

class writer {
  public:
    explicit writer(std::string_view coordinator) : label_("coordinator=\"" + escaped(coordinator) + "\"") {}

    void family(std::string_view name, const char* type, std::string_view help) {
        name_ = "halcyon_coordinator_" + std::string(name);
        text += "# HELP " + name_ + " " + std::string(help) + ".\n# TYPE " + name_ + " " + type + "\n";
    }
    void value(double v, std::string_view label = {}, std::string_view of = {}) {
        text += name_ + "{" + label_;
        if (!label.empty()) text += "," + std::string(label) + "=\"" + escaped(of) + "\"";
        char digits[64];
        const auto [end, problem] = std::to_chars(std::begin(digits), std::end(digits), v);
        text += "} " + std::string(digits, problem == std::errc{} ? end : digits) + "\n";
    }
    void gauge(std::string_view name, std::string_view help, double v) {
        family(name, "gauge", help);
        value(v);
    }
    void counter(std::string_view name, std::string_view help, double v) {
        family(name, "counter", help);
        value(v);
    }

    std::string text;

  private:
    static std::string escaped(std::string_view given) {
        std::string out;
        for (const char c : given) {
            if (c == '\\' || c == '"') out += '\\';
            out += c == '\n' ? ' ' : c;
        }
        return out;
    }

    std::string label_;
    std::string name_;
};

/// `refused_claims` is `refused_claims_total`, `bytes_moved` `moved_bytes_total`: units come last but `total`.
std::string counter_name(std::string_view count) {
    if (count == "bytes_moved") return "moved_bytes_total";
    if (count == "own_pauses_s") return "own_pauses_seconds_total";
    return std::string(count) + "_total";
}

template <class Counts>
void write_counts(writer& to, const Counts& counted, const measured& what) {
    each_count(counted, [&](const char* name, auto value, const char* help) {
        const auto before = what.counted_before.find(std::string_view(name));
        to.counter(counter_name(name), help,
                   static_cast<double>(value) + (before == what.counted_before.end() ? 0 : before->second));
    });
}

void write_applications(writer& to, const snapshot& state) {
    std::map<std::string_view, int> by_state;
    for (uint8_t i = 0; i < static_cast<uint8_t>(seen_state::count); ++i)
        by_state[name_of(static_cast<seen_state>(i))] = 0;
    double longest_s = 0, expected_s = 0;
    int turns = 0;
    for (const application_state& one : state.applications) {
        ++by_state[name_of(one.turn, one.state)];
        turns += one.turn == turn_stage::none ? 0 : 1;
        if (one.state != policy::movement::waiting && one.state != policy::movement::interrupted) continue;
        longest_s = std::max(longest_s, one.in_state_s);
        expected_s = std::max(expected_s, one.expected_wait_s);
    }
    to.family("applications", "gauge", "Registered applications by state, as top shows it");
    for (const auto& [name, count] : by_state) to.value(count, "state", name);
    to.gauge("turn_holders", "Applications that have the turn, standing turns included", turns);
    to.gauge("longest_wait_seconds", "Time that the application waits that has waited for longest", longest_s);
    to.gauge("expected_wait_seconds", "Longest of the waits that are expected", expected_s);
}

}  // namespace

std::string metrics_text(const measured& what) {
    writer to(what.name);
    to.family("info", "gauge", "Policy of the coordinator; always 1");
    to.value(1, "policy", policy::name_of(what.state.rule));
    to.gauge("uptime_seconds", "Time since the start of the daemon", what.up_s);
    to.gauge("leads", "1: this daemon gives turns; 0: it stands by", what.leads ? 1 : 0);
    to.gauge("epoch", "Epoch of the fencing numbers", static_cast<double>(what.state.epoch));
    to.gauge("connections", "Open connections", static_cast<double>(what.connections));
    to.gauge("buffered_bytes", "Memory for messages from and to clients", static_cast<double>(what.buffered_bytes));
    to.gauge("throughput_bytes_per_second", "Bandwidth of applications with a turn, by their latest reports",
             what.state.bytes_per_s);
    to.gauge("unseen_share_ratio", "Share of the bandwidth that writers without Halcyon take, as inferred",
             what.state.unseen_share);
    to.gauge("interruption_seconds", "Time that an interruption counts as under dynamic, as learned",
             what.state.interruption_s);
    write_applications(to, what.state);
    to.family("decisions_by_reason_total", "counter", "Decisions that changed who may move, by reason");
    for (const auto& [reason, count] : what.state.decisions_by_reason)
        to.value(static_cast<double>(count), "reason", policy::name_of(reason));
    write_counts(to, what.counted, what);
    write_counts(to, what.of_daemon, what);
    return std::move(to.text);
}

}  // namespace halcyon::coordinate
