#include "programs/coordinator_options.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/closest_name.hpp"

namespace halcyon::coordinate {
namespace {

failure wrong(std::string message) {
    return {error_kind::usage, std::move(message), 0};
}

/// Where options put their values.
result<std::string*> place_of(coordinator_options& into, std::string_view option) {
    if (option == "--config") return &into.file;
    if (option == "--name") return &into.name;
    if (option == "--policy") return &into.policy;
    if (option == "--metric") return &into.metric;
    if (option == "--metrics") return &into.metrics;
    if (option == "--end-with") return &into.ends_with;
    if (option == "--address") return &into.addresses.emplace_back();
    if (option == "--check" || option == "--show") {
        into.what = option == "--check" ? coordinator_options::task::check : coordinator_options::task::show;
        return &into.file;
    }
    if (option == "--show-one") {
        into.what = coordinator_options::task::show_one;
        return &into.file;
    }
    const std::array<std::string, 10> known{"--config",  "--name",     "--address", "--policy", "--metric",
                                            "--metrics", "--end-with", "--check",   "--show",   "--show-one"};
    const auto near = closest_name(option, known);
    return wrong("unknown option " + printable(option) + (near ? "; did you mean " + *near + "?" : ""));
}

result<void> take_addresses(const coordinator_options& options, coordinator_entry& entry) {
    if (options.addresses.empty()) return {};
    entry.reached.listen.clear();
    for (const std::string& text : options.addresses) {
        auto address = parse_socket_address(text);
        if (!address) return wrong("--address: " + address.why().message);
        if (!address->is_any_port() && std::ranges::count(entry.reached.listen, *address) > 0)
            return wrong("--address " + address->text() + " is given twice");
        entry.reached.listen.push_back(*address);
    }
    if (entry.addresses.empty()) entry.addresses = entry.reached.listen;
    return {};
}

std::string list_of(const std::vector<socket_address>& addresses) {
    std::string all;
    for (const socket_address& one : addresses) all += (all.empty() ? "" : ", ") + one.text();
    return all;
}

/// Clients try the addresses of the file, so a daemon that leads elsewhere would lead nobody.
result<void> check_is_found(const coordinator_options& options, const coordinator_entry& entry) {
    const auto& listen = entry.reached.listen;
    if (listen.empty())
        return wrong(options.file + ": coordinator '" + entry.name + "' has " + std::to_string(entry.addresses.size()) +
                     " addresses, each of another daemon; --address says which one is this daemon's: " +
                     list_of(entry.addresses));
    const bool is_found = std::ranges::find_first_of(listen, entry.addresses) != listen.end();
    if (entry.by.servers.empty() || is_found) return {};
    return wrong((options.addresses.empty() ? "'listen' of " + options.file + ": " : "--address ") + list_of(listen) +
                 ": clients of coordinator '" + entry.name +
                 "', whose daemons are elected, do not look there; expected "
                 "one of " +
                 list_of(entry.addresses));
}

/// "--policy fcsf: no such policy; did you mean 'fcfs'?; expected delay, …".
failure unknown_word(const char* option, const std::string& word, const char* kind,
                     std::span<const std::string> known) {
    const auto near = closest_name(word, known);
    return wrong(std::string(option) + " " + printable(word) + ": no such " + kind +
                 (near ? "; did you mean '" + *near + "'?" : "") + "; expected " +
                 list_names({known.begin(), known.end()}));
}

}  // namespace

const char* const coordinator_usage =
    "usage: halcyon-coordinator [--config FILE] [--name NAME] [--address ADDRESS]... [--policy POLICY]\n"
    "                           [--metric METRIC] [--metrics ADDRESS] [--end-with PID]\n"
    "       halcyon-coordinator --check FILE\n"
    "       halcyon-coordinator --show FILE | --show-one FILE [--name NAME]\n"
    "       halcyon-coordinator --version\n"
    "\n"
    "Gives the applications of one file system their turns, until SIGTERM or SIGINT. SIGHUP: reads FILE again.\n"
    "\n"
    "  --config FILE      coordinators.yaml; may be left out where --address is given\n"
    "  --name NAME        which of its coordinators; may be left out where there is one\n"
    "  --address ADDRESS  where to listen, instead of what FILE says: unix:PATH, unix:@NAME, tcp:HOST:PORT\n"
    "  --policy POLICY    interfere, fcfs, interrupt, delay, fair-share, set-10, dynamic (default: dynamic)\n"
    "  --metric METRIC    of dynamic: sum-of-times, sum-of-interference-factors, cpu-hours, energy\n"
    "  --metrics ADDRESS  where Prometheus finds metrics\n"
    "  --end-with PID     ends when the process PID does, which has to be the one that starts it\n"
    "  --check FILE       says what is wrong with FILE, and runs nothing\n"
    "  --show FILE        prints the coordinators of FILE as JSON\n"
    "  --show-one FILE    prints the one of NAME, or the only one, alike\n"
    "  --version          prints the release, and the version of the protocol that agents must speak\n";

result<coordinator_options> parse_options(std::span<const char* const> arguments) {
    coordinator_options made;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view given = arguments[i];
        if (given == "--help" || given == "-h") {
            made.what = coordinator_options::task::help;
            return made;
        }
        if (given == "--version") {
            made.what = coordinator_options::task::version;
            return made;
        }
        const size_t equals = given.starts_with("--") ? given.find('=') : std::string_view::npos;
        const auto place = place_of(made, given.substr(0, equals));
        if (!place) return place.why();
        if (equals != std::string_view::npos)
            **place = given.substr(equals + 1);
        else if (++i < arguments.size())
            **place = arguments[i];
        else
            return wrong(std::string(given) + " needs a value");
    }
    if (made.what == coordinator_options::task::run && made.file.empty() && made.addresses.empty())
        return wrong("neither --config nor --address is given");
    return made;
}

result<coordinator_entry> configured(const coordinator_options& options) {
    coordinator_entry entry;
    entry.name = options.name.empty() ? "storage" : options.name;
    if (!options.file.empty()) {
        const auto all = read_coordinators(options.file);
        if (!all) return all.why();
        auto chosen = choose(*all, options.name, options.file);
        if (!chosen) return chosen;
        entry = std::move(*chosen);
    }
    if (auto done = take_addresses(options, entry); !done) return done.why();
    if (auto done = check_is_found(options, entry); !done) return done.why();
    if (!options.policy.empty()) {
        const auto rule = rule_of(options.policy);
        if (!rule) return unknown_word("--policy", options.policy, "policy", rule_names());
        entry.how.rule = *rule;
    }
    if (!options.metric.empty()) {
        const auto metric = metric_of(options.metric);
        if (!metric) return unknown_word("--metric", options.metric, "metric", metric_names());
        entry.how.metric = *metric;
    }
    if (!options.metrics.empty()) {
        auto address = parse_socket_address(options.metrics);
        if (!address) return wrong("--metrics: " + address.why().message);
        entry.reached.metrics = *address;
        if (!address->is_any_port() && std::ranges::count(entry.reached.listen, *address) > 0)
            return wrong("--metrics " + address->text() + ": clients connect there; expected another address");
    }
    return entry;
}

}  // namespace halcyon::coordinate
