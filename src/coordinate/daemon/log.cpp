#include "coordinate/daemon/log.hpp"

#include <poll.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <utility>

#include "base/clock.hpp"

namespace halcyon::coordinate {
namespace {

constexpr rate_limit lines{20, 100};

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace

log::log(int fd, std::string name, uint64_t& dropped)
    : fd_(fd), name_(std::move(name)), dropped_(dropped), allowed_(lines, monotonic_ns()) {}

void log::line(std::string_view text) {
    if (!allowed_.take(lines, 1, monotonic_ns())) {
        ++dropped_;
        return;
    }
    std::string begin = utc_now() + " halcyon-coordinator " + name_ + ": ";
    if (dropped_ > dropped_told_) begin += "[" + std::to_string(dropped_ - dropped_told_) + " log lines are missing] ";
    const uint64_t told = dropped_;
    if (write(begin + std::string(text.substr(0, PIPE_BUF - 512)) + "\n"))
        dropped_told_ = told;
    else
        ++dropped_;
}

/// A pipe is ready to write when PIPE_BUF bytes fit, so that a shorter line neither waits nor is cut.
bool log::write(std::string_view text) {
    pollfd one{fd_, POLLOUT, 0};
    if (::poll(&one, 1, 0) != 1 || (one.revents & POLLOUT) == 0) return false;
    return ::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace halcyon::coordinate
