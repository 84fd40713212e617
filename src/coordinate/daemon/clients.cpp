#include "coordinate/daemon/clients.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/line_socket/name_lookup.hpp"
#include "coordinate/protocol/json.hpp"

namespace halcyon::coordinate {
namespace {

constexpr int64_t proving_ns = 10'000'000'000;   // munged may be slow
constexpr int64_t answering_ns = 1'000'000'000;  // after which one that has not answered makes room for others
constexpr int64_t finishing_ns = 1'000'000'000;
constexpr size_t most_leaving = 1024;
constexpr int64_t reading_ns = 20'000'000;
constexpr size_t events_a_round = 128;  // of the loop
constexpr size_t most_discarded = size_t{1} << 20U;
constexpr size_t most_waiting = size_t{256} << 10U;
/// `top` of many applications at once.
constexpr size_t most_waiting_administrator = size_t{64} << 20U;

constexpr std::string_view too_many_proving = "too many connections are being checked; try again";

std::string refusal(std::string_view reason) {
    return std::get<std::string>(encode(from_coordinator(refused{std::string(reason)})));
}

/// Without the port.
std::string address_of(int socket) {
    const auto there = remote_end(socket);
    return there ? there->text().substr(0, there->text().rfind(':')) : "";
}

}  // namespace

clients::clients(event_loop& loop, client_handler& handler, daemon_counts& counted)
    : loop_(loop), handler_(handler), counted_(counted) {}

clients::~clients() {
    for (const auto& [id, c] : all_) loop_.remove(c->watch);
    loop_.remove(checks_watch_);
}

result<void> clients::start_checks(std::optional<munge> authority) {
    if (checks_ && authority == checked_by_) return {};
    auto made = peer_check::start(authority, unproven::most);
    if (!made) return made.why();
    auto watch = loop_.add((*made)->fd(), EPOLLIN, [this](uint32_t) { collect_verdicts(); });
    if (!watch) return watch.why();
    loop_.remove(checks_watch_);
    checks_ = std::move(*made);
    checked_by_ = std::move(authority);
    checks_watch_ = *watch;
    std::vector<connection_id> unanswered;
    for (const auto& [id, c] : all_)
        if (c->at == stage::checking) unanswered.push_back(id);
    for (const connection_id id : unanswered) {
        ++counted_.refused_proving;
        refuse(id, *all_.at(id), refusal_line(too_many_proving));
    }
    return {};
}

void clients::add(listening_socket::accepted from) {
    ++counted_.accepted;
    const connection_id id = ++latest_;
    auto made = std::make_unique<client>(std::move(from.socket), line_bounds{longest_line, most_waiting_administrator});
    client& c = *made;
    auto watch = loop_.add(c.connection.fd(), EPOLLIN, [this, id](uint32_t events) { ready(id, events); });
    if (!watch) {
        ++counted_.refused_descriptors;
        return;
    }
    c.watch = *watch;
    c.events = EPOLLIN;
    all_.emplace(id, std::move(made));
    if (from.peer) return open(id, c, *from.peer);
    c.came_ns = monotonic_ns();
    if (!wait_for_proof(id, address_of(c.connection.fd()))) {
        ++counted_.refused_proving;
        return refuse(id, c, refusal_line(too_many_proving));
    }
    prove_by_.set(id, c.came_ns + proving_ns);
    c.challenge = std::move(from.challenge);
    if (!c.connection.send(c.challenge->line)) drop(id);
}

/// False: there are too many, and none of them has been silent for long.
bool clients::wait_for_proof(connection_id id, const std::string& address) {
    if (unproven_.add(id, address)) return true;
    const int64_t young_ns = monotonic_ns() - answering_ns;
    const auto silent = unproven_.to_make_room(
        address, [this](connection_id one) { return all_.at(one)->at == stage::proving; },
        [this, young_ns](connection_id one) { return all_.at(one)->came_ns > young_ns; });
    if (!silent) return false;
    ++counted_.refused_proving;
    drop(*silent);
    return unproven_.add(id, address);
}

void clients::open(connection_id id, client& c, const peer_identity& who) {
    has_proven(id);
    c.at = stage::open;
    c.user = who.uid;
    c.administrator = handler_.came(id, who);
    charge(id, c);
}

/// Or is not asked to any more.
void clients::has_proven(connection_id id) {
    prove_by_.forget(id);
    unproven_.remove(id);
}

/// The loop is asked again only where something may wait that it did not tell of: it tells of so many at a time, of
/// which few are not clients, and of one that says much a part is read.
result<bool> clients::read_all(int64_t rest_ns) {
    turns_.begin_pass();
    uint64_t handled = handled_;
    left_in_part_ = false;
    // Of a client that waits, the lines may have been received already: nothing wakes the loop for them.
    if (auto done = loop_.run_once(turns_.anybody_waits() ? 0 : rest_ns); !done) return done.why();
    const int64_t until_ns = monotonic_ns() + reading_ns;
    bool all = true;
    for (size_t rounds = all_.size() / events_a_round + 1;
         std::exchange(left_in_part_, false) || handled_ - handled > events_a_round / 2; rounds -= rounds > 0 ? 1 : 0) {
        all = monotonic_ns() < until_ns;
        if (!all) break;
        handled = handled_;
        const uint64_t were_read = read_;
        if (auto done = loop_.run_once(0); !done) return done.why();
        if (rounds == 0 && read_ == were_read) break;  // of the others, the loop tells again and again
    }
    read_waiting(monotonic_ns() + reading_ns);
    return all;
}

void clients::read_waiting(int64_t until_ns) {
    while (monotonic_ns() < until_ns) {
        const auto id = turns_.next();
        if (!id) return;
        if (const auto found = all_.find(*id); found != all_.end() && found->second->at == stage::open)
            read_in_turn(*id, *found->second);
    }
}

/// An open one.
void clients::read_or_wait(connection_id id, client& c) {
    if (!turns_.may_read(id, c.user)) return handler_.waits(id);
    ++read_;
    read_in_turn(id, c);
}

void clients::read_in_turn(connection_id id, client& c) {
    const uid_t user = c.user;
    const int64_t begin_ns = monotonic_ns();
    read_until_ns_ = begin_ns + turns_.left_ns(user);
    read(id, c);
    turns_.was_read(user, monotonic_ns() - begin_ns);
}

void clients::ready(connection_id id, uint32_t events) {
    ++handled_;
    const auto found = all_.find(id);
    if (found == all_.end()) return;
    client& c = *found->second;
    if ((events & EPOLLOUT) != 0) {
        flush(id, c);
        if (!all_.contains(id)) return;
    }
    if ((events & ~uint32_t{EPOLLOUT}) == 0 || turns_.waits(id)) return;
    if (c.at == stage::open) return read_or_wait(id, c);
    ++read_;
    read(id, c);
}

void clients::read(connection_id id, client& c) {
    if (c.at == stage::finishing || c.at == stage::lingering) {
        std::array<char, 65536> discarded;
        const ssize_t got = ::recv(c.connection.fd(), discarded.data(), discarded.size(), MSG_DONTWAIT);
        const bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
        if (got > 0) c.discarded_bytes += static_cast<size_t>(got);
        if (got == 0 || (got < 0 && !waits) || c.discarded_bytes > most_discarded) drop(id);
        return;
    }
    const auto got = c.connection.read_lines([&](std::string_view line) { return take(id, c, line); });
    // A handler only sends and finishes; neither destroys a client that is being read.
    const bool was_open = c.at == stage::open;
    if (got && *got != line_connection::input::ended) {
        if (*got == line_connection::input::open)
            left_in_part_ = left_in_part_ || c.connection.incomplete_bytes() > 0;
        else if (was_open)
            turns_.wait(id, c.user);
        if (was_open) charge(id, c);
        return;
    }
    if (!got && got.why().system_errno == EMSGSIZE && was_open) {
        ++counted_.refused_long_lines;
        handler_.said_too_much(id);
        return refuse(id, c, refusal("a message is longer than " + std::to_string(longest_line) + " bytes"));
    }
    if (!was_open) ++counted_.refused_identities;
    drop(id);
}

/// Whether to go on reading: where there is more, until the part of the user is used up.
bool clients::take(connection_id id, client& c, std::string_view line) {
    if (c.at == stage::open) {
        handler_.said(id, line);
        return c.at == stage::open && (c.connection.incomplete_bytes() == 0 || monotonic_ns() < read_until_ns_);
    }
    if (c.at != stage::proving) return false;
    c.at = stage::checking;
    if (checks_ == nullptr || !checks_->ask(id, *c.challenge, std::string(line))) {
        ++counted_.refused_proving;
        refuse(id, c, refusal_line(too_many_proving));
        return false;
    }
    wait_for(id, c, 0);
    return false;
}

void clients::collect_verdicts() {
    ++handled_;
    for (peer_check::verdict& one : checks_->collect()) {
        const auto found = all_.find(one.connection);
        if (found == all_.end() || found->second->at != stage::checking) continue;
        client& c = *found->second;
        if (!one.peer) {
            ++counted_.refused_identities;
            refuse(one.connection, c, refusal_line(one.peer.why()));
            continue;
        }
        if (!c.connection.send(welcome_line)) {
            drop(one.connection);
            continue;
        }
        open(one.connection, c, *one.peer);
        // Lines may have come with the answer already.
        if (all_.contains(one.connection) && c.at == stage::open) {
            wait_for(one.connection, c, EPOLLIN);
            read_or_wait(one.connection, c);
        }
    }
}

void clients::send(connection_id id, std::string_view line) {
    const auto found = all_.find(id);
    if (found == all_.end() || found->second->at != stage::open) return;
    client& c = *found->second;
    const size_t most = c.administrator ? most_waiting_administrator : most_waiting;
    const bool fits = c.connection.bytes_waiting() + line.size() < most;
    const auto sent = fits ? c.connection.send(line) : result<void>(failure{error_kind::unavailable, "", ENOBUFS});
    if (!sent) {
        if (sent.why().system_errno == ENOBUFS) ++counted_.closed_slow_readers;
        return drop(id);
    }
    if (c.connection.wants_to_write()) {
        wait_for(id, c, EPOLLIN | EPOLLOUT);
        charge(id, c);
    }
}

void clients::finish(connection_id id) {
    const auto found = all_.find(id);
    if (found == all_.end() || found->second->at > stage::open) return;
    client& c = *found->second;
    c.at = stage::finishing;
    has_proven(id);
    leave_by_.set(id, monotonic_ns() + finishing_ns);
    if (!c.connection.wants_to_write()) linger(id, c);
}

void clients::finish_all() {
    std::vector<connection_id> ids;
    for (const auto& [id, c] : all_) ids.push_back(id);
    for (const connection_id id : ids) finish(id);
}

void clients::flush(connection_id id, client& c) {
    if (const auto done = c.connection.flush(); !done) return drop(id);
    if (c.connection.wants_to_write()) return;
    if (c.at == stage::finishing) return linger(id, c);
    wait_for(id, c, c.at == stage::checking ? 0U : uint32_t{EPOLLIN});
}

void clients::linger(connection_id id, client& c) {
    c.connection.end_output();
    c.at = stage::lingering;
    wait_for(id, c, EPOLLIN);
}

/// With a last line; nobody hears of it any more.
void clients::refuse(connection_id id, client& c, std::string_view last_line) {
    const bool known = c.at == stage::open;
    static_cast<void>(c.connection.send(last_line));
    finish(id);
    if (known) handler_.went(id);
}

bool clients::charge(connection_id id, client& c) {
    const auto bytes = static_cast<int64_t>(c.connection.memory_bytes());
    int64_t& of_user = charged_[c.user];
    of_user += bytes - c.charged_bytes;
    buffered_ += bytes - c.charged_bytes;
    const bool grew = bytes > c.charged_bytes;
    c.charged_bytes = bytes;
    if (!grew || of_user <= most_per_user_ || c.administrator || c.at != stage::open) return true;
    ++counted_.closed_buffers;
    refuse(id, c, refusal("this user's messages take too much memory"));
    return false;
}

void clients::wait_for(connection_id id, client& c, uint32_t events) {
    if (c.events == events) return;
    if (loop_.change(c.watch, events))
        c.events = events;
    else
        broken_.push_back(id);
}

void clients::drop(connection_id id) {
    const auto found = all_.find(id);
    client& c = *found->second;
    const bool known = c.at == stage::open;
    loop_.remove(c.watch);
    buffered_ -= c.charged_bytes;
    if (const auto user = charged_.find(c.user); user != charged_.end() && (user->second -= c.charged_bytes) <= 0)
        charged_.erase(user);
    has_proven(id);
    leave_by_.forget(id);
    turns_.forget(id);
    all_.erase(found);
    if (known) handler_.went(id);
}

/// Where too many leave, those whose time ends first have had enough of it.
void clients::expire(int64_t now_ns) {
    for (const connection_id id : std::exchange(broken_, {}))
        if (all_.contains(id)) drop(id);
    while (const auto late = prove_by_.due(now_ns)) {
        ++counted_.refused_identities;
        drop(*late);
    }
    while (const auto left = leave_by_.due(now_ns, most_leaving)) drop(*left);
}

}  // namespace halcyon::coordinate
