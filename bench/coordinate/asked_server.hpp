#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/line_socket/line_client.hpp"
#include "bench/figure.hpp"
#include "bench/offload/processes.hpp"

namespace halcyon::bench {

inline int64_t since(int64_t begin_ns) {
    return monotonic_ns() - begin_ns;
}

/// A folder of its own, gone at the end.
class socket_folder {
  public:
    socket_folder() : path_("/tmp/halcyon-bench-XXXXXX") {
        if (::mkdtemp(path_.data()) == nullptr) stop(path_ + ": cannot be made");
    }
    socket_folder(const socket_folder&) = delete;
    socket_folder& operator=(const socket_folder&) = delete;
    ~socket_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string operator/(const char* name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

/// Sends back whatever comes, on each connection: what a socket, the kernel's wake-up and epoll cost.
[[noreturn]] inline void echo(const std::string& path) {
    const descriptor listening(::socket(AF_UNIX, SOCK_STREAM, 0)), epoll(::epoll_create1(0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    const auto watch = [&](int fd) {
        epoll_event e{EPOLLIN, {.fd = fd}};
        return ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &e) == 0;
    };
    if (::bind(listening.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
        ::listen(listening.get(), 512) != 0 || !watch(listening.get()))
        stop(path);
    std::array<epoll_event, 128> events{};
    std::array<char, 65536> bytes{};
    while (true) {
        const int ready = ::epoll_wait(epoll.get(), events.data(), events.size(), -1);
        for (int i = 0; i < ready; ++i) {
            const int fd = events[static_cast<size_t>(i)].data.fd;
            if (fd == listening.get()) {
                if (const int one = ::accept(fd, nullptr, nullptr); one >= 0 && !watch(one)) stop(path);
                continue;
            }
            const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
            if (got <= 0 || ::send(fd, bytes.data(), static_cast<size_t>(got), MSG_NOSIGNAL) != got) ::close(fd);
        }
    }
}

/// Connections to one server, of which each asks in its turn, at fixed times whether the answers before have come or
/// not: a slow answer delays none of the questions that follow, and is not left out either.
class asked_server {
  public:
    asked_server(const std::string& path, size_t connections) : epoll_(::epoll_create1(0)) {
        for (size_t i = 0; i < connections; ++i) {
            lines_.push_back(std::move(connect(path)).release());
            epoll_event e{EPOLLIN, {.u64 = i}};
            if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, lines_.back().fd(), &e) != 0) stop("epoll_ctl");
        }
    }
    virtual ~asked_server() = default;
    asked_server(const asked_server&) = delete;
    asked_server& operator=(const asked_server&) = delete;

    /// How long each of `count` answers took from the time that its question was due, in ns.
    std::vector<double> ask(size_t count, int64_t every_ns) {
        due_ns_.assign(lines_.size(), 0);
        took_ns_.clear();
        not_asked_ = 0;
        const int64_t begin = monotonic_ns() + 1'000'000;
        for (size_t asked = 0; took_ns_.size() < count;) {
            const int64_t due = begin + static_cast<int64_t>(asked) * every_ns;
            if (asked < count && monotonic_ns() >= due) {
                const size_t who = asked++ % lines_.size();
                if (due_ns_[who] != 0) {
                    // It still waits: a question that could not even be asked, and has waited so long already.
                    ++not_asked_;
                    took_ns_.push_back(static_cast<double>(since(due_ns_[who])));
                    continue;
                }
                due_ns_[who] = due;
                question(who);
            }
            between_questions();
            hear();
            if (since(begin) > 10'000'000'000) stop("not every question was answered");
        }
        return took_ns_;
    }
    /// Questions of the latest ask() whose client still waited for the answer before.
    [[nodiscard]] size_t not_asked() const { return not_asked_; }
    /// Reads what has come.
    void hear() {
        std::array<epoll_event, 16> events{};
        const int ready = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
        for (int i = 0; i < ready; ++i) {
            const size_t who = events[static_cast<size_t>(i)].data.u64;
            const auto got = lines_[who].read_lines([&](std::string_view line) {
                heard_ns_ = monotonic_ns();
                heard(who, line);
                return true;
            });
            if (!got || *got == line_connection::input::ended) stop("the server closed a connection");
        }
    }

  protected:
    virtual void question(size_t who) = 0;
    virtual void between_questions() {}
    virtual void heard(size_t who, std::string_view line) = 0;

    /// What was heard last is the answer to one that asks(). Its time is that of its coming: to understand it is the
    /// client's work. Returns how long it took, in ns.
    double answered(size_t who) {
        took_ns_.push_back(static_cast<double>(heard_ns_ - due_ns_[who]));
        due_ns_[who] = 0;
        return took_ns_.back();
    }
    [[nodiscard]] bool asks(size_t who) const { return due_ns_[who] != 0; }
    void say(size_t who, std::string_view line) {
        if (!lines_[who].send(line) || lines_[who].wants_to_write()) stop("the server does not read");
    }
    [[nodiscard]] size_t connections() const { return lines_.size(); }

    std::vector<int64_t> due_ns_;  ///< of the question that is not answered yet; 0: none

  private:
    static line_client connect(const std::string& path) {
        for (const int64_t begin = monotonic_ns(); since(begin) < 10'000'000'000;) {
            auto made = line_client::connect({socket_address::family::unix_path, path, 0}, {});
            if (made) return std::move(*made);
            busy_pause(1'000'000);
        }
        stop("nobody listens at " + path);
    }

    descriptor epoll_;
    std::vector<line_connection> lines_;
    std::vector<double> took_ns_;
    int64_t heard_ns_ = 0;
    size_t not_asked_ = 0;
};

}  // namespace halcyon::bench
