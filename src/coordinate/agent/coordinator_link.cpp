#include "coordinate/agent/coordinator_link.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/line_socket/socket_connect.hpp"
#include "base/try_thread.hpp"
#include "coordinate/protocol/fields.hpp"
#include "coordinate/protocol/json.hpp"
#include "coordinate/protocol/plain_text.hpp"

namespace halcyon::coordinate {

namespace {

constexpr auto between_tries_ns = static_cast<int64_t>(reconnect_s * 1e9);
constexpr auto longest_connect = std::chrono::seconds(1);
constexpr auto longest_unconfirmed = std::chrono::seconds(5);  // of heartbeats

bool has_input(int socket) {
    pollfd one{socket, POLLIN, 0};
    return ::poll(&one, 1, 0) > 0;
}

}  // namespace

result<std::unique_ptr<coordinator_link>> coordinator_link::start(event_loop& loop, const std::string& addresses,
                                                                  line_client::options how, std::string_view agent,
                                                                  events on) {
    auto where = parse_socket_addresses(addresses);
    if (!where) return where.why();
    descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!bell) return system_failure("eventfd", errno);
    how.timeout = longest_connect;
    std::unique_ptr<coordinator_link> made(
        new coordinator_link(loop, *std::move(where), std::move(how), agent, std::move(on), std::move(bell)));
    auto watch = loop.add(made->bell_.get(), EPOLLIN, [link = made.get()](uint32_t) { link->take_connection(); });
    if (!watch) return watch.why();
    made->bell_watch_ = *watch;
    return made;
}

coordinator_link::~coordinator_link() {
    if (connector_.joinable()) connector_.join();
    if (socket_watch_ != event_loop::watch::none) loop_.remove(socket_watch_);
    if (bell_watch_ != event_loop::watch::none) loop_.remove(bell_watch_);
}

void coordinator_link::care(int64_t now_ns) {
    if (connection_ && has_other_addresses() && was_silent(now_ns)) close();
    if (connection_ || now_ns < refused_until_ns_) return;
    if (next_ == 0 && now_ns - tried_ns_ < between_tries_ns) return;
    const std::lock_guard here(mutex_);
    if (connecting_) return;
    if (connector_.joinable()) connector_.join();
    if (next_ == 0) tried_ns_ = now_ns;
    const socket_address& address = addresses_[next_];
    next_ = (next_ + 1) % addresses_.size();
    connecting_ = try_thread(connector_, [this, &address] {
        auto client = line_client::connect(address, how_);
        {
            const std::lock_guard inside(mutex_);
            connecting_ = false;
            if (client)
                made_.emplace(std::move(*client).release());
            else
                connect_failure_ = client.why();
        }
        const uint64_t one = 1;
        static_cast<void>(::write(bell_.get(), &one, sizeof one) == sizeof one);
    });
    if (connecting_) return;
    ++threads_missing_;
    next_ = 0;
}

void coordinator_link::take_connection() {
    uint64_t count = 0;
    static_cast<void>(::read(bell_.get(), &count, sizeof count) == sizeof count);
    take_failure();
    {
        const std::lock_guard here(mutex_);
        if (!made_ || connection_) return;
        connection_.emplace(std::move(*made_));
        made_.reset();
    }
    writes_ = is_late_ = false;
    heard_ns_ = on_.clock_ns();
    break_when_unconfirmed(connection_->fd(), longest_unconfirmed);  // no more than an error on a Unix socket
    auto watch = loop_.add(connection_->fd(), EPOLLIN, [this](uint32_t what) {
        if ((what & EPOLLOUT) != 0 && connection_ && !connection_->flush()) return close();
        read();
    });
    if (!watch) return connection_.reset();
    socket_watch_ = *watch;
    on_.connected();
}

/// Where this user may not connect, the coordinator might have said so itself.
void coordinator_link::take_failure() {
    std::optional<failure> found;
    {
        const std::lock_guard here(mutex_);
        found = std::exchange(connect_failure_, {});
    }
    if (!found) return;
    const std::string reason = excerpt(found->message, longest_reason);
    if (found->kind != error_kind::usage) return on_.failed(reason);
    refused said{reason};
    heed(said);
    // The other addresses are still to be tried.
    if (has_other_addresses()) refused_until_ns_ = 0;
    on_.received(said, on_.clock_ns());
}

void coordinator_link::heed(const from_coordinator& message) {
    if (std::holds_alternative<registered>(message)) pause_.over();
    const auto* const no = std::get_if<refused>(&message);
    if (no == nullptr || no->again_s == 0) return;
    refused_until_ns_ = on_.clock_ns() + static_cast<int64_t>(pause_.next(no->again_s) * 1e9);
}

void coordinator_link::read() {
    if (!connection_) return;
    const int64_t now_ns = on_.clock_ns();
    is_late_ = is_late_ || was_silent(now_ns);
    if (is_late_ && has_other_addresses()) return close();
    const auto got = connection_->read_lines([this, now_ns](std::string_view line) {
        heard_ns_ = now_ns;
        const auto message = decode_from_coordinator(line);
        if (const auto* const understood = std::get_if<from_coordinator>(&message)) {
            heed(*understood);
            on_.received(*understood, now_ns);
        } else {
            ++misunderstood_;
        }
        return connection_.has_value();
    });
    if (!got || *got == line_connection::input::ended) return close();
    if (connection_) note_late();
    watch_output();
}

/// Once the socket is empty, whatever comes was said later.
void coordinator_link::note_late() {
    if (!is_late_) return;
    is_late_ = has_input(connection_->fd());
    on_.late();
}

bool coordinator_link::was_silent(int64_t now_ns) const {
    return static_cast<double>(now_ns - heard_ns_) > lease_silence_s * 1e9;
}

void coordinator_link::watch_output() {
    if (!connection_ || connection_->wants_to_write() == writes_) return;
    writes_ = !writes_;
    static_cast<void>(loop_.change(socket_watch_, writes_ ? EPOLLIN | EPOLLOUT : EPOLLIN));
}

result<void> coordinator_link::send(const to_coordinator& message) {
    if (!connection_) return {};
    const auto line = encode(message);
    if (const auto* const wrong = std::get_if<rejection>(&line)) return failure{error_kind::usage, wrong->text(), 0};
    if (connection_->send(std::get<std::string>(line)))
        watch_output();
    else
        close();
    return {};
}

void coordinator_link::close() {
    if (!connection_) return;
    loop_.remove(socket_watch_);
    socket_watch_ = event_loop::watch::none;
    connection_.reset();
    on_.disconnected();
}

}  // namespace halcyon::coordinate
