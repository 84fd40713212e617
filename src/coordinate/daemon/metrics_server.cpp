#include "coordinate/daemon/metrics_server.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace halcyon::coordinate {
namespace {

constexpr size_t most_requests = 16, most_asked = 8192;
constexpr int64_t patience_ns = 5'000'000'000, reading_ns = 1'000'000'000;
constexpr int64_t longest_known_ns = 1'000'000'000, times_as_long = 20;
constexpr int64_t cheap_ns = 1'000'000;

bool would_wait() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/// For which this thread has run: not the time in which others did.
int64_t thread_cpu_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string response(const char* status, const char* type, const std::string& body) {
    return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: " + type +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

}  // namespace

result<std::unique_ptr<metrics_server>> metrics_server::open(event_loop& loop, const socket_address& address,
                                                             mode_t permissions, daemon_counts& counted,
                                                             std::function<std::string()> text) {
    std::unique_ptr<metrics_server> made(new metrics_server(loop, counted, std::move(text)));
    listen_options options;
    options.permissions = permissions;
    options.insecure = true;  // nobody is asked who they are
    auto opened = listener::open(loop, address, options, counted, [one = made.get()](listening_socket::accepted from) {
        one->add(std::move(from.socket));
    });
    if (!opened) return opened.why();
    made->listener_ = std::move(*opened);
    return made;
}

metrics_server::~metrics_server() {
    for (const auto& [number, r] : requests_) loop_.remove(r.watch);
}

void metrics_server::add(descriptor socket) {
    if (!make_room()) {
        ++counted_.refused_metrics;
        return;
    }
    const uint64_t number = ++latest_;
    auto watch = loop_.add(socket.get(), EPOLLIN, [this, number](uint32_t) { ready(number); });
    if (!watch) {
        ++counted_.refused_metrics;
        return;
    }
    requests_.emplace(number, request{std::move(socket), *watch, {}, {}, 0, monotonic_ns() + patience_ns});
}

/// Of the oldest that has not asked anything yet; of all that have, of one that does not read its answer. False: none
/// has had time for that. Many are accepted at once, so a question may lie in the socket: it is answered first.
bool metrics_server::make_room() {
    while (requests_.size() >= most_requests) {
        auto oldest = std::ranges::find_if(requests_, [](const auto& one) { return one.second.answer.empty(); });
        if (oldest != requests_.end()) {
            const uint64_t number = oldest->first;
            ready(number);
            oldest = requests_.find(number);
            if (oldest == requests_.end() || !oldest->second.answer.empty()) continue;
        } else {
            oldest = requests_.begin();
            if (oldest->second.until_ns - patience_ns + reading_ns > monotonic_ns()) return false;
        }
        ++counted_.refused_metrics;
        end(oldest->first);
    }
    return true;
}

void metrics_server::ready(uint64_t number) {
    const auto found = requests_.find(number);
    if (found == requests_.end()) return;
    request& r = found->second;
    if (r.answer.empty() && !read(r)) return end(number);
    if (r.answer.empty()) return;
    if (!write(r)) return end(number);
    if (!loop_.change(r.watch, EPOLLOUT)) end(number);
}

bool metrics_server::read(request& r) {
    std::array<char, 4096> some;
    const ssize_t got = ::recv(r.socket.get(), some.data(), some.size(), MSG_DONTWAIT);
    if (got < 0 && would_wait()) return true;
    if (got <= 0) return false;
    r.asked.append(some.data(), static_cast<size_t>(got));
    if (r.asked.find("\r\n\r\n") != std::string::npos || r.asked.find("\n\n") != std::string::npos)
        answer(r);
    else if (r.asked.size() > most_asked) {
        ++counted_.refused_metrics;
        r.answer = response("431 Request Header Fields Too Large", "text/plain", "the request is too long\n");
    }
    return true;
}

void metrics_server::answer(request& r) {
    const std::string_view line = std::string_view(r.asked).substr(0, r.asked.find_first_of("\r\n"));
    const auto asks_for = [line](std::string_view what) {
        return line.starts_with(what) &&
               (line.size() == what.size() || line[what.size()] == ' ' || line[what.size()] == '?');
    };
    if (asks_for("GET /metrics")) {
        r.answer = response("200 OK", "text/plain; version=0.0.4; charset=utf-8", latest_text());
        return;
    }
    ++counted_.refused_metrics;
    r.answer = line.starts_with("GET ") ? response("404 Not Found", "text/plain", "metrics are at /metrics\n")
                                        : response("405 Method Not Allowed", "text/plain", "only GET is answered\n");
}

/// Of many applications, the text takes long to make. One that took a millisecond or more is used again for twenty
/// times as long as that, up to a second, and any one where there is no room for another request, since many of them
/// are answered at once then: no number of requests keeps the daemon from everything else.
const std::string& metrics_server::latest_text() {
    const bool is_used_again = text_took_ns_ >= cheap_ns || requests_.size() >= most_requests;
    if (is_used_again && monotonic_ns() < known_until_ns_) return known_text_;
    const int64_t begin_ns = thread_cpu_ns();
    known_text_ = text_();
    text_took_ns_ = thread_cpu_ns() - begin_ns;
    known_until_ns_ = monotonic_ns() + std::min(longest_known_ns, times_as_long * text_took_ns_);
    return known_text_;
}

/// False: all is sent, or the reader is gone.
bool metrics_server::write(request& r) const {
    while (r.sent < r.answer.size()) {
        const ssize_t sent =
            ::send(r.socket.get(), r.answer.data() + r.sent, r.answer.size() - r.sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) return would_wait();
        r.sent += static_cast<size_t>(sent);
    }
    return false;
}

void metrics_server::end(uint64_t number) {
    const auto found = requests_.find(number);
    loop_.remove(found->second.watch);
    requests_.erase(found);
}

void metrics_server::expire(int64_t now_ns) {
    std::vector<uint64_t> late;
    for (const auto& [number, r] : requests_)
        if (r.until_ns <= now_ns) late.push_back(number);
    for (const uint64_t number : late) {
        ++counted_.refused_metrics;
        end(number);
    }
}

}  // namespace halcyon::coordinate
