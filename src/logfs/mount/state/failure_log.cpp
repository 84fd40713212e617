#include "logfs/mount/state/failure_log.hpp"

#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/clock.hpp"

namespace halcyon::logfs {
namespace {

constexpr int64_t quiet_ns = 10'000'000'000;

/// `2026-01-31 12:00:00 `, in UTC.
std::string now_in_words() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    const size_t size = std::strftime(text, sizeof text, "%F %TZ ", &parts);
    return {text, size};
}

}  // namespace

void failure_log::use_system_log() {
    const std::lock_guard alone(lock_);
    ::openlog("halcyon-mount", LOG_PID, LOG_DAEMON);
    to_ = target::system;
}

void failure_log::use_file(descriptor file) {
    const std::lock_guard alone(lock_);
    file_ = std::move(file);
    to_ = target::file;
}

void failure_log::say(std::string_view line) {
    const std::lock_guard alone(lock_);
    const int64_t now = monotonic_ns();
    if (line == last_ && now - last_ns_ < quiet_ns) {
        ++repeated_;
        return;
    }
    if (repeated_ > 0) write("the last message, " + std::to_string(repeated_) + " times more");
    repeated_ = 0;
    last_ = line;
    last_ns_ = now;
    write(line);
}

void failure_log::write(std::string_view line) {
    if (to_ == target::system) {
        ::syslog(LOG_ERR, "%.*s", static_cast<int>(line.size()), line.data());
        return;
    }
    std::string text = to_ == target::file ? now_in_words() : "halcyon-mount: ";
    text.append(line).append("\n");
    // A log that is full changes nothing for the programs.
    const ssize_t written = ::write(to_ == target::file ? file_.get() : STDERR_FILENO, text.data(), text.size());
    static_cast<void>(written);
}

int number_of(const failure& why) {
    // Something in a container that is not there any more: another node removed the container.
    if (why.system_errno == ENOENT) return ESTALE;
    if (why.system_errno > 0) return why.system_errno;
    switch (why.kind) {
        case error_kind::usage:
            return EINVAL;
        case error_kind::unavailable:
            return EAGAIN;
        default:
            return EIO;
    }
}

}  // namespace halcyon::logfs
