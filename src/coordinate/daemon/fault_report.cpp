#include "coordinate/daemon/fault_report.hpp"

#include <utility>

#include "coordinate/coordinator/fault_counts.hpp"

namespace halcyon::coordinate {
namespace {

constexpr int64_t pause_ns = 10'000'000'000;
constexpr int64_t between_looks_ns = 250'000'000;  // it takes as long as to understand a message

}  // namespace

/// A name is looked at only where its count has changed.
template <class Counts>
void fault_report::look(std::vector<double>& told, const Counts& now, std::string& text) {
    size_t i = 0;
    each_count(now, [&](const char* name, auto value, const char* what) {
        if (i == told.size()) told.push_back(0);
        const auto now_counted = static_cast<double>(value);
        const double before = std::exchange(told[i++], now_counted);
        if (!(now_counted > before) || !is_fault(name)) return;
        const auto new_ones = static_cast<uint64_t>(now_counted - before);
        text += (text.empty() ? "" : "; ") + std::string(what) + " (" + std::to_string(new_ones) + ")";
    });
}

std::string fault_report::news(const counts& of_machine, const daemon_counts& of_daemon, int64_t now_ns) {
    if (now_ns < next_ns_) return {};
    std::string text;
    look(of_machine_, of_machine, text);
    look(of_daemon_, of_daemon, text);
    next_ns_ = now_ns + (text.empty() ? between_looks_ns : pause_ns);
    return text;
}

}  // namespace halcyon::coordinate
