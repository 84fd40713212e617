#include "coordinate/daemon/fault_report.hpp"

#include <utility>

#include "coordinate/coordinator/fault_counts.hpp"

namespace halcyon::coordinate {
namespace {

constexpr int64_t pause_ns = 10'000'000'000;

}  // namespace

std::string fault_report::news(const counts& of_machine, const daemon_counts& of_daemon, int64_t now_ns) {
    if (now_ns < next_ns_) return {};
    std::string text;
    const auto look = [&](std::map<std::string, double>& told, const char* name, double value, const char* what) {
        if (!is_fault(name)) return;
        const auto new_ones = static_cast<uint64_t>(value - std::exchange(told[name], value));
        if (new_ones > 0)
            text += (text.empty() ? "" : "; ") + std::string(what) + " (" + std::to_string(new_ones) + ")";
    };
    each_count(of_machine, [&](const char* name, auto value, const char* what) {
        look(of_machine_, name, static_cast<double>(value), what);
    });
    each_count(of_daemon, [&](const char* name, auto value, const char* what) {
        look(of_daemon_, name, static_cast<double>(value), what);
    });
    if (!text.empty()) next_ns_ = now_ns + pause_ns;
    return text;
}

}  // namespace halcyon::coordinate
