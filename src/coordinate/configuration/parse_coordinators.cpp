#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "base/closest_name.hpp"
#include "base/contained.hpp"
#include "base/yaml/config_value.hpp"
#include "base/yaml/schema.hpp"
#include "coordinate/configuration/coordinators.hpp"
#include "coordinate/configuration/coordinators_schema.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {
namespace {

using yaml::config_value;

/// A duration between bounds, in seconds.
double seconds(const config_value& value, double least_s, double most_s, const char* least, const char* most) {
    const double given = std::chrono::duration<double>(value.duration()).count();
    if (given < least_s || given > most_s)
        value.refuse("'" + printable(value.text()) + "'; expected a duration from " + least + " to " + most);
    return given;
}

int64_t size(const config_value& value, int64_t least) {
    const int64_t given = value.bytes();
    if (given < least)
        value.refuse("'" + printable(value.text()) + "'; expected at least " + std::to_string(least) + " bytes");
    return given;
}

bool is_line(const std::string& text) {
    return std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 127; });
}

/// Processes of jobs hear of paths and addresses in lines PATH=ADDRESS.
socket_address address_of(const config_value& value) {
    auto parsed = parse_socket_address(value.text());
    if (!parsed) value.refuse(parsed.why().message);
    if (!is_line(value.text()) || value.text().find('=') != std::string::npos)
        value.refuse("'" + printable(value.text()) + "'; expected no control characters, and no '='");
    return *parsed;
}

std::string path_of(const config_value& value) {
    const std::filesystem::path given = value.text();
    if (!given.is_absolute()) value.refuse("'" + printable(value.text()) + "'; expected an absolute path");
    std::string path = given.lexically_normal().string();
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (!is_line(path)) value.refuse("'" + printable(path) + "'; expected no control characters");
    for (const char* const family : {"=unix:", "=tcp:"})
        if (path.find(family) != std::string::npos)
            value.refuse("'" + printable(path) + "'; expected no '" + family + "', behind which an address begins");
    if (path.size() >= shared_file_system::longest_path)
        value.refuse("a path of " + std::to_string(path.size()) + " bytes; expected fewer than " +
                     std::to_string(shared_file_system::longest_path));
    return path;
}

/// More than a process has room for in the page of its node, nobody could take turns at. `before`: of other
/// coordinators.
void check_count(const config_value& paths, size_t before) {
    constexpr size_t most = process_slot::most_file_systems;
    const size_t count = before + paths.items().size();
    if (count > most)
        paths.refuse(std::to_string(count) + " paths" + (before > 0 ? " with those of the coordinators before" : "") +
                     "; expected " + std::to_string(most) + " at most, since a program takes turns at no more");
}

mode_t permissions_of(const config_value& value) {
    const std::string& text = value.text();
    unsigned number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 8);
    if (problem != std::errc{} || end != text.data() + text.size() || number > 0777)
        value.refuse("'" + printable(text) + "'; expected permissions such as \"0666\"");
    return number;
}

uid_t user_of(const config_value& value) {
    const std::string& text = value.text();
    if (value.is(yaml::node_kind::integer)) {
        const int64_t number = value.integer();
        if (number < 0 || number >= std::numeric_limits<uid_t>::max())
            value.refuse(text + "; expected the name or number of a user");
        return static_cast<uid_t>(number);
    }
    errno = 0;
    const passwd* const known = ::getpwnam(text.c_str());
    if (known == nullptr) value.refuse("no user '" + printable(text) + "' on this machine");
    return known->pw_uid;
}

void parse_bounds(const config_value& from, settings& how) {
    policy::settings& bounds = how.bounds;
    if (const auto v = from.find("starvation")) bounds.starvation_s = seconds(*v, 0.1, 86400, "100 ms", "1440 min");
    if (const auto v = from.find("relief")) bounds.relief_s = seconds(*v, 0.01, 3600, "10 ms", "60 min");
    if (const auto v = from.find("slice")) bounds.slice_s = seconds(*v, 0.01, 3600, "10 ms", "60 min");
    if (const auto v = from.find("interruption")) bounds.interruption_s = seconds(*v, 0, 60, "0", "60 s");
    if (const auto v = from.find("least-gain")) bounds.least_gain = v->number();
    if (const auto v = from.find("ask-again")) bounds.ask_again_s = seconds(*v, 0.01, 60, "10 ms", "60 s");
    if (const auto v = from.find("all-begin-within")) bounds.all_begin_within_s = seconds(*v, 0, 60, "0", "60 s");
    if (const auto v = from.find("interrupts-after")) bounds.interrupts_after_s = seconds(*v, 0, 60, "0", "60 s");
    if (const auto v = from.find("tolerated-factor")) bounds.tolerated_factor = v->number();
    if (const auto v = from.find("least-probability")) bounds.least_probability = v->number();
    if (const auto v = from.find("search-positions")) bounds.search_positions = static_cast<uint64_t>(v->integer());
    if (const auto v = from.find("search-positions-per-second")) how.search_positions_per_s = v->number();
}

void parse_times(const config_value& from, settings& how) {
    // At lease_silence_s, leases would end between two of them.
    if (const auto v = from.find("heartbeat")) how.heartbeat_s = seconds(*v, 0.01, 0.25, "10 ms", "250 ms");
    if (const auto v = from.find("dead")) how.dead_s = seconds(*v, 0.01, 600, "10 ms", "10 min");
    if (const auto v = from.find("stop")) how.stop_s = seconds(*v, 0.1, 600, "100 ms", "10 min");
    if (const auto v = from.find("relearn")) how.relearn_s = seconds(*v, 0, 60, "0", "60 s");
    if (const auto v = from.find("reservation"))
        how.reservation_s = seconds(*v, 60, 366 * 86400.0, "1 min", "527040 min");
    if (const auto v = from.find("stalled")) {
        how.stalled_s = seconds(*v, 0.1, 600, "100 ms", "10 min");
        if (how.stalled_s < 3 * how.heartbeat_s)
            v->refuse("'" + v->text() + "' is less than three heartbeats: a single late one would end turns");
    }
}

void parse_lease(const config_value& from, settings& how) {
    if (const auto v = from.find("time")) how.lease_s = seconds(*v, 0.001, 10, "1 ms", "10 s");
    if (const auto v = from.find("most")) how.most_lease_bytes = size(*v, 1);
    if (const auto v = from.find("first")) how.first_lease_bytes = size(*v, 1);
    if (const auto v = from.find("least")) {
        how.least_lease_bytes = size(*v, 1);
        if (how.least_lease_bytes > how.most_lease_bytes) v->refuse("'" + v->text() + "' is more than 'most'");
    }
}

void parse_limits(const config_value& from, settings& how, service& reached) {
    if (const auto v = from.find("connections")) how.per_user.connections = static_cast<uint32_t>(v->integer());
    if (const auto v = from.find("applications")) how.per_user.applications = static_cast<uint32_t>(v->integer());
    if (const auto v = from.find("messages-per-second")) how.per_user.messages_per_s = v->number();
    if (const auto v = from.find("messages-at-once")) how.per_user.messages_at_once = v->number();
    if (const auto v = from.find("all-applications")) how.most_applications = static_cast<uint32_t>(v->integer());
    if (const auto v = from.find("processes")) how.most_processes = v->integer();
    if (const auto v = from.find("nodes")) how.most_nodes = v->integer();
    if (const auto v = from.find("buffer")) reached.most_buffered_bytes_per_user = size(*v, int64_t{1} << 20U);
}

/// The daemon listens there for Prometheus alone.
socket_address metrics_of(const config_value& value, const coordinator_entry& entry) {
    socket_address given = address_of(value);
    for (const auto* const of_clients : {&entry.addresses, &entry.reached.listen})
        if (!given.is_any_port() && std::ranges::find(*of_clients, given) != of_clients->end())
            value.refuse("'" + given.text() + "' is an address of this coordinator's clients ('" +
                         (of_clients == &entry.addresses ? "address" : "listen") + "'); expected another one");
    return given;
}

void parse_service(const config_value& from, coordinator_entry& entry) {
    service& reached = entry.reached;
    if (const auto v = from.find("listen")) {
        for (const config_value& each : v->items()) {
            const socket_address given = address_of(each);
            if (!given.is_any_port() && std::ranges::count(reached.listen, given) > 0)
                each.refuse("'" + given.text() + "' is there twice");
            reached.listen.push_back(given);
        }
    }
    if (reached.listen.empty() && entry.addresses.size() == 1) reached.listen = entry.addresses;
    if (const auto v = from.find("socket-permissions")) reached.permissions = permissions_of(*v);
    if (const auto v = from.find("insecure")) reached.insecure = v->boolean();
    if (const auto v = from.find("user")) reached.user = user_of(*v);
    if (const auto v = from.find("munge-socket")) reached.munge_socket = v->text();
    if (const auto v = from.find("administrators"))
        for (const config_value& each : v->items()) reached.administrators.push_back(user_of(each));
    if (const auto v = from.find("metrics")) reached.metrics = metrics_of(*v, entry);
    if (const auto v = from.find("epoch-file")) reached.epoch_file = path_of(*v);
}

/// Where a daemon is found: one that does not run yet.
socket_address fixed_address_of(const config_value& value) {
    socket_address given = address_of(value);
    if (given.is_any_port())
        value.refuse("'" + given.text() + "'; expected a port, since nobody could find one that the system chooses");
    return given;
}

void parse_addresses(const config_value& from, coordinator_entry& entry) {
    if (!from.is(yaml::node_kind::sequence)) return entry.addresses.push_back(fixed_address_of(from));
    for (const config_value& each : from.items()) {
        entry.addresses.push_back(fixed_address_of(each));
        if (std::ranges::count(entry.addresses, entry.addresses.back()) > 1)
            each.refuse("'" + entry.addresses.back().text() + "' is there twice");
    }
}

std::string server_of(const config_value& value) {
    std::string url = value.text();
    while (url.ends_with('/')) url.pop_back();
    if (!url.starts_with("http://") && !url.starts_with("https://"))
        value.refuse("'" + printable(url) + "'; expected the URL of an etcd server, such as http://login1:2379");
    return url;
}

void parse_election(const config_value& from, coordinator_entry& entry) {
    const auto given = from.find("elect");
    if (!given) {
        if (entry.addresses.size() > 1)
            from.find("address")->refuse(std::to_string(entry.addresses.size()) +
                                         " addresses, but nobody elects among their daemons; add 'elect'");
        return;
    }
    for (const config_value& each : given->find("etcd")->items()) entry.by.servers.push_back(server_of(each));
    entry.by.prefix = "/halcyon/coordinators/" + entry.name;
    if (const auto v = given->find("prefix")) entry.by.prefix = path_of(*v);
    if (const auto v = given->find("lease"))
        entry.by.lease_s = static_cast<int64_t>(std::ceil(seconds(*v, 3, 60, "3 s", "60 s")));
    if (const auto v = from.find("epoch-file")) v->refuse("etcd keeps the epochs; leave this key out");
}

void parse_settings(const config_value& from, settings& how) {
    // The schema knows the words; a test compares them with those of the policies.
    if (const auto v = from.find("policy")) how.rule = rule_of(v->text()).value();
    if (const auto v = from.find("metric")) how.metric = metric_of(v->text()).value();
    if (const auto v = from.find("bounds")) parse_bounds(*v, how);
    if (const auto v = from.find("times")) parse_times(*v, how);
    if (const auto v = from.find("lease")) parse_lease(*v, how);
    if (const auto v = from.find("bandwidth")) how.storage_bytes_per_s = static_cast<double>(size(*v, 1'000'000));
    if (const auto v = from.find("watts-per-node")) how.watts_per_node = v->number();
    if (const auto v = from.find("decisions-kept")) how.decisions_kept = static_cast<uint32_t>(v->integer());
    if (const auto accounts = from.find("accounts"))
        for (const auto& [name, weight] : accounts->entries()) how.account_weights[name] = weight.number();
}

/// A daemon is of one coordinator.
void check_addresses(const config_value& given, const coordinator_entry& entry, const coordinators& before) {
    for (const coordinator_entry& other : before.entries)
        for (const socket_address& address : entry.addresses)
            if (std::ranges::find(other.addresses, address) != other.addresses.end())
                given.refuse("'" + address.text() + "' is the address of '" + other.name + "' already");
}

coordinators build(const config_value& root) {
    coordinators all;
    std::map<std::string, std::string> owner_of;  // of paths
    for (const auto& [name, value] : root.find("coordinators")->entries()) {
        coordinator_entry entry;
        entry.name = name;
        value.check_name("coordinator", name);
        const config_value paths = *value.find("paths");
        check_count(paths, owner_of.size());
        for (const config_value& each : paths.items()) {
            entry.paths.push_back(path_of(each));
            const auto [known, added] = owner_of.emplace(entry.paths.back(), name);
            if (!added) each.refuse("'" + entry.paths.back() + "' is coordinated by '" + known->second + "' already");
        }
        parse_addresses(*value.find("address"), entry);
        check_addresses(*value.find("address"), entry, all);
        parse_service(value, entry);
        parse_election(value, entry);
        parse_settings(value, entry.how);
        if (const auto v = value.find("limits")) parse_limits(*v, entry.how, entry.reached);
        all.entries.push_back(std::move(entry));
    }
    return all;
}

}  // namespace

result<coordinators> parse_coordinators(std::string_view yaml_text, std::string_view file_name) {
    return contained(std::string(file_name), [&]() -> result<coordinators> {
        static const yaml::schema rules = yaml::schema::from_json(coordinators_schema()).value();
        const auto document = yaml::parse(yaml_text, file_name);
        if (!document) return document.why();
        if (const auto fits = rules.check(*document, file_name); !fits) return fits.why();
        return build(config_value(*document, file_name, ""));
    });
}

}  // namespace halcyon::coordinate
