// Every key of coordinators.yaml means what it says, and nothing else.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/rapidjson.hpp"
#include "coordinate/configuration/coordinators.hpp"
#include "coordinate/configuration/coordinators_schema.hpp"

namespace halcyon::coordinate {
namespace {

coordinator_entry entry_with(const std::string& line) {
    const std::string text =
        "halcyon: 1\ncoordinators:\n  scratch:\n    paths: [/scratch]\n    address: unix:@scratch\n" +
        (line.empty() ? "" : "    " + line + "\n");
    auto all = parse_coordinators(text, "coordinators.yaml");
    EXPECT_TRUE(all.ok()) << line << ": " << (all.ok() ? "" : all.why().message);
    return all.ok() ? all->entries.at(0) : coordinator_entry();
}

struct key {
    std::string name;   ///< as in the schema: "bounds.slice"
    std::string value;  ///< another one than the default
    std::function<void(coordinator_entry&)> means;

    /// "bounds: {slice: 3 s}"
    [[nodiscard]] std::string line() const {
        const size_t dot = name.find('.');
        if (dot == std::string::npos) return name + ": " + value;
        return name.substr(0, dot) + ": {" + name.substr(dot + 1) + ": " + value + "}";
    }
};

socket_address at(const std::string& text) {
    return parse_socket_address(text).value();
}

std::vector<key> all_keys() {
    return {
        {"listen", "[unix:@other]", [](auto& of) { of.reached.listen = {at("unix:@other")}; }},
        {"socket-permissions", "\"0660\"", [](auto& of) { of.reached.permissions = 0660; }},
        {"insecure", "true", [](auto& of) { of.reached.insecure = true; }},
        {"user", "7", [](auto& of) { of.reached.user = 7; }},
        {"munge-socket", "/run/m", [](auto& of) { of.reached.munge_socket = "/run/m"; }},
        {"administrators", "[7, 8]",
         [](auto& of) {
             of.reached.administrators = {7, 8};
         }},
        {"metrics", "unix:@metrics", [](auto& of) { of.reached.metrics = at("unix:@metrics"); }},
        {"epoch-file", "/var/epoch", [](auto& of) { of.reached.epoch_file = "/var/epoch"; }},
        {"policy", "set-10", [](auto& of) { of.how.rule = policy::rule::set_10; }},
        {"metric", "energy", [](auto& of) { of.how.metric = policy::metric::energy; }},
        {"bandwidth", "40 GB", [](auto& of) { of.how.storage_bytes_per_s = 4e10; }},
        {"watts-per-node", "250.5", [](auto& of) { of.how.watts_per_node = 250.5; }},
        {"accounts", "{physics: 2.5, weather: 1}",
         [](auto& of) {
             of.how.account_weights = {{"physics", 2.5}, {"weather", 1.0}};
         }},
        {"decisions-kept", "7", [](auto& of) { of.how.decisions_kept = 7; }},

        {"elect.etcd", "[\"http://login1:2379/\"]",
         [](auto& of) {
             of.by.servers = {"http://login1:2379"};
             of.by.prefix = "/halcyon/coordinators/scratch";
         }},
        {"elect.prefix", "/site, etcd: [\"http://a:1\"]",
         [](auto& of) {
             of.by.servers = {"http://a:1"};
             of.by.prefix = "/site";
         }},
        {"elect.lease", "7 s, etcd: [\"http://a:1\"]",
         [](auto& of) {
             of.by.servers = {"http://a:1"};
             of.by.prefix = "/halcyon/coordinators/scratch";
             of.by.lease_s = 7;
         }},

        {"bounds.starvation", "7 s", [](auto& of) { of.how.bounds.starvation_s = 7; }},
        {"bounds.relief", "7 s", [](auto& of) { of.how.bounds.relief_s = 7; }},
        {"bounds.slice", "7 s", [](auto& of) { of.how.bounds.slice_s = 7; }},
        {"bounds.interruption", "7 s", [](auto& of) { of.how.bounds.interruption_s = 7; }},
        {"bounds.least-gain", "0.25", [](auto& of) { of.how.bounds.least_gain = 0.25; }},
        {"bounds.ask-again", "7 s", [](auto& of) { of.how.bounds.ask_again_s = 7; }},
        {"bounds.all-begin-within", "7 s", [](auto& of) { of.how.bounds.all_begin_within_s = 7; }},
        {"bounds.interrupts-after", "7 s", [](auto& of) { of.how.bounds.interrupts_after_s = 7; }},
        {"bounds.tolerated-factor", "7", [](auto& of) { of.how.bounds.tolerated_factor = 7; }},
        {"bounds.least-probability", "0.25", [](auto& of) { of.how.bounds.least_probability = 0.25; }},
        {"bounds.search-positions", "700", [](auto& of) { of.how.bounds.search_positions = 700; }},
        {"bounds.search-positions-per-second", "700", [](auto& of) { of.how.search_positions_per_s = 700; }},

        {"times.heartbeat", "125 ms", [](auto& of) { of.how.heartbeat_s = 0.125; }},
        {"times.dead", "7 s", [](auto& of) { of.how.dead_s = 7; }},
        {"times.stalled", "7 s", [](auto& of) { of.how.stalled_s = 7; }},
        {"times.stop", "7 s", [](auto& of) { of.how.stop_s = 7; }},
        {"times.relearn", "7 s", [](auto& of) { of.how.relearn_s = 7; }},
        {"times.reservation", "2 min", [](auto& of) { of.how.reservation_s = 120; }},

        {"lease.time", "7 s", [](auto& of) { of.how.lease_s = 7; }},
        {"lease.most", "7 MiB", [](auto& of) { of.how.most_lease_bytes = int64_t{7} << 20U; }},
        {"lease.first", "7 MiB", [](auto& of) { of.how.first_lease_bytes = int64_t{7} << 20U; }},
        {"lease.least", "7 MiB", [](auto& of) { of.how.least_lease_bytes = int64_t{7} << 20U; }},

        {"limits.connections", "7", [](auto& of) { of.how.per_user.connections = 7; }},
        {"limits.applications", "7", [](auto& of) { of.how.per_user.applications = 7; }},
        {"limits.messages-per-second", "7", [](auto& of) { of.how.per_user.messages_per_s = 7; }},
        {"limits.messages-at-once", "7", [](auto& of) { of.how.per_user.messages_at_once = 7; }},
        {"limits.buffer", "7 MiB", [](auto& of) { of.reached.most_buffered_bytes_per_user = int64_t{7} << 20U; }},
        {"limits.all-applications", "7", [](auto& of) { of.how.most_applications = 7; }},
        {"limits.processes", "7", [](auto& of) { of.how.most_processes = 7; }},
        {"limits.nodes", "7", [](auto& of) { of.how.most_nodes = 7; }},
    };
}

TEST(coordinators_yaml, has_keys_of_which_each_changes_what_it_is_called_after) {
    const coordinator_entry usual = entry_with("");
    for (const key& one : all_keys()) {
        coordinator_entry expected = usual;
        one.means(expected);
        const coordinator_entry found = entry_with(one.line());
        EXPECT_TRUE(found.how == expected.how) << one.line();
        EXPECT_TRUE(found.reached == expected.reached) << one.line();
        EXPECT_TRUE(found.by == expected.by) << one.line();
        EXPECT_FALSE(found.how == usual.how && found.reached == usual.reached && found.by == usual.by)
            << one.line() << " is the default";
    }
}

/// Of a definition of the schema, with this before each.
void add_names(const rapidjson::Value& definitions, const char* of, const std::string& before,
               std::set<std::string>& names) {
    for (const auto& property : definitions[of]["properties"].GetObject()) {
        const std::string name = property.name.GetString();
        if (before.empty() && definitions.HasMember(name.c_str()) && definitions[name.c_str()].HasMember("properties"))
            add_names(definitions, name.c_str(), name + ".", names);
        else
            names.insert(before + name);
    }
}

TEST(coordinators_yaml, has_no_key_of_which_these_tests_do_not_know) {
    rapidjson::Document schema;
    const std::string text(coordinators_schema());
    schema.Parse(text.c_str());
    ASSERT_FALSE(schema.HasParseError());
    std::set<std::string> known, names;
    add_names(schema["definitions"], "coordinator", "", names);
    for (const key& one : all_keys()) known.insert(one.name);
    for (const char* of_each_coordinator : {"paths", "address"}) known.insert(of_each_coordinator);
    EXPECT_EQ(names, known);
}

}  // namespace
}  // namespace halcyon::coordinate
