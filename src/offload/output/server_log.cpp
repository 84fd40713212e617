#include "offload/output/server_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/clock.hpp"
#include "base/same_file.hpp"
#include "offload/output/output_writer.hpp"
#include "offload/output/run_mark.hpp"

namespace halcyon::offload {

namespace fs = std::filesystem;

result<void> server_log::open(const model& data, const std::string& directory, const std::string& writer,
                              const std::string& run) {
    const std::string& wanted = data.server.log_directory;
    const std::string place = wanted.empty() ? records_directory(data, directory)
                                             : (fs::path(directory) / wanted).lexically_normal().string();
    path_ = place + "/server-" + writer + ".log";
    run_ = wanted.empty() ? run : "";
    where_ = wanted.empty() ? "" : data.server.log_where + ": ";
    return open_file();
}

/// Its directory, which is made where it is missing.
result<void> server_log::settle() const {
    const std::string directory = fs::path(path_).parent_path().string();
    if (where_.empty()) return settle_in_directory(directory, run_);
    std::error_code why;
    fs::create_directories(directory, why);
    if (why) return system_failure(where_ + "log directory " + directory + " cannot be made", why.value());
    return {};
}

result<void> server_log::open_file() {
    if (auto settled = settle(); !settled) return settled;
    descriptor opened(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!opened) return system_failure(where_ + path_, errno);
    fd_ = std::move(opened);
    if (takes_output_) take_standard_output();
    return {};
}

void server_log::take_standard_output() {
    takes_output_ = true;
    if (!fd_) return;
    ::dup2(fd_.get(), STDOUT_FILENO);
    ::dup2(fd_.get(), STDERR_FILENO);
}

result<void> server_log::line(const std::string& text) {
    const int64_t now = realtime_ns();
    const time_t seconds = now / 1'000'000'000;
    tm when{};
    ::gmtime_r(&seconds, &when);
    char stamp[40];
    const size_t n = std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &when);
    std::snprintf(stamp + n, sizeof stamp - n, ".%03dZ ", static_cast<int>(now / 1'000'000 % 1000));
    const std::string all = stamp + text + "\n";
    const std::lock_guard lock(mutex_);
    result<void> outcome;
    // Deleted or moved, with its directory perhaps: it goes on where it is looked for.
    if (follows_ && !path_.empty() && !(fd_ && leads_to(path_, fd_.get()))) outcome = open_file();
    const ssize_t written = ::write(fd_ ? fd_.get() : STDERR_FILENO, all.data(), all.size());
    if (outcome && written != static_cast<ssize_t>(all.size()))
        outcome = system_failure(where_ + path_, written < 0 ? errno : ENOSPC);
    return outcome;
}

void server_log::stop_following() {
    const std::lock_guard lock(mutex_);
    follows_ = false;
}

}  // namespace halcyon::offload
