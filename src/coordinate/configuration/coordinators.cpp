#include "coordinate/configuration/coordinators.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/closest_name.hpp"
#include "base/text_file.hpp"
#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {
namespace {

using policy::metric;
using policy::rule;

constexpr std::array rules{rule::interfere,  rule::fcfs,   rule::interrupt, rule::delay,
                           rule::fair_share, rule::set_10, rule::dynamic};
constexpr std::array metrics{metric::sum_of_times, metric::sum_of_interference_factors, metric::cpu_hours,
                             metric::energy};

template <class Known>
auto find_word(const Known& known, std::string_view word) -> std::optional<typename Known::value_type> {
    for (const auto one : known)
        if (word == policy::name_of(one)) return one;
    return std::nullopt;
}

template <class Known>
std::vector<std::string> names_of(const Known& known) {
    std::vector<std::string> names;
    for (const auto one : known) names.emplace_back(policy::name_of(one));
    return names;
}

}  // namespace

std::string coordinator_entry::reached_at() const {
    std::string text;
    for (const socket_address& one : addresses) text += (text.empty() ? "" : ",") + one.text();
    const auto is_tcp = [](const socket_address& one) { return one.is_tcp(); };
    if (!reached.insecure && std::ranges::any_of(addresses, is_tcp)) text += "\tmunge";
    if (reached.user && !std::ranges::all_of(addresses, is_tcp)) text += "\tuser:" + std::to_string(*reached.user);
    return text;
}

const coordinator_entry* coordinators::named(std::string_view name) const {
    for (const coordinator_entry& one : entries)
        if (one.name == name) return &one;
    return nullptr;
}

result<coordinators> read_coordinators(const std::string& path) {
    const auto text = read_text_file(path);
    if (!text) return text.why();
    return parse_coordinators(*text, path);
}

result<coordinator_entry> choose(const coordinators& all, std::string_view name, std::string_view file_name) {
    if (name.empty() && all.entries.size() == 1) return all.entries.front();
    if (const coordinator_entry* const found = all.named(name)) return *found;
    std::vector<std::string> known;
    for (const coordinator_entry& one : all.entries) known.push_back(one.name);
    const std::string in(file_name);
    if (name.empty())
        return failure{error_kind::usage,
                       in + " has " + std::to_string(known.size()) + " coordinators: " + list_names(known) +
                           "; name one of them with --name",
                       0};
    return failure{error_kind::usage,
                   in + ": no coordinator '" + printable(name) + "'; known coordinators: " + list_names(known), 0};
}

std::optional<rule> rule_of(std::string_view word) {
    return find_word(rules, word);
}

std::optional<metric> metric_of(std::string_view word) {
    return find_word(metrics, word);
}

std::vector<std::string> rule_names() {
    return names_of(rules);
}

std::vector<std::string> metric_names() {
    return names_of(metrics);
}

std::vector<std::string> warnings_about(const settings& how) {
    std::vector<std::string> warnings;
    const auto too_short = [&](const char* key, double given_s, const char* who) {
        char text[256];
        std::snprintf(text, sizeof text,
                      "times.%s is %g s: an application that %s uses its lease for up to %g s, and may move beside the "
                      "next one for the rest of these",
                      key, given_s, who, lease_silence_s);
        warnings.emplace_back(text);
    };
    if (how.dead_s < lease_silence_s) too_short("dead", how.dead_s, "was cut off");
    // 0 is for a coordinator that is new to all: nobody has a lease of one before.
    if (how.relearn_s > 0 && how.relearn_s < lease_silence_s)
        too_short("relearn", how.relearn_s, "had the turn before a restart and was not heard of");
    return warnings;
}

}  // namespace halcyon::coordinate
