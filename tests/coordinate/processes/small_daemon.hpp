#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/event_loop.hpp"
#include "base/line_socket/line_connection.hpp"
#include "base/line_socket/listening_socket.hpp"
#include "coordinate/coordinator/coordinator.hpp"
#include "coordinate/protocol/json.hpp"

/// A coordinator on a thread of the test, for a handful of agents. While it lives, it answers; it can be told to keep
/// silent.
namespace halcyon::tests {

using namespace halcyon::coordinate;

class small_daemon {
  public:
    small_daemon(const settings& how, const std::string& address)
        : loop_(event_loop::start().value()),
          socket_(listening_socket::open(parse_socket_address(address).value(), {}).value()),
          told_(how, 1, now()) {
        loop_->add(socket_.fd(), EPOLLIN, [this](uint32_t) { accept(); }).value();
        thread_ = std::thread([this] {
            while (!ends_) {
                static_cast<void>(loop_->run_once(2'000'000));
                if (!silent_) carry_out();
            }
        });
    }
    ~small_daemon() {
        ends_ = true;
        thread_.join();
    }
    small_daemon(const small_daemon&) = delete;
    small_daemon& operator=(const small_daemon&) = delete;

    void keep_silent(bool silent) { silent_ = silent; }
    snapshot state() {
        const std::lock_guard here(mutex_);
        return told_.state();
    }
    counts counted() {
        const std::lock_guard here(mutex_);
        return told_.counted();
    }

  private:
    static double now() { return static_cast<double>(monotonic_ns()) / 1e9; }

    void accept() {
        auto taken = socket_.accept();
        if (!taken || !taken->socket) return;
        const std::lock_guard here(mutex_);
        const connection_id id = ++last_;
        const uint32_t user = taken->peer->uid;
        auto& one = peers_[id];
        one = std::make_unique<line_connection>(std::move(taken->socket));
        watches_[id] = loop_->add(one->fd(), EPOLLIN, [this, id](uint32_t) { read(id); }).value();
        told_.connected(id, user, false, now());
    }
    void read(connection_id id) {
        const std::lock_guard here(mutex_);
        const auto got = peers_.at(id)->read_lines([&](std::string_view line) {
            told_.received(id, line, now());
            return true;
        });
        if (got && *got == line_connection::input::open) return;
        told_.disconnected(id, now());
        forget(id);
    }
    void forget(connection_id id) {
        loop_->remove(watches_.at(id));
        peers_.erase(id);
    }
    void carry_out() {
        const std::lock_guard here(mutex_);
        const effects& todo = told_.advance(now());
        for (const effects::outgoing& one : todo.messages) {
            const auto to = peers_.find(one.to);
            if (to != peers_.end()) static_cast<void>(to->second->send(std::get<std::string>(encode(one.message))));
        }
        for (const connection_id id : todo.close)
            if (peers_.contains(id)) forget(id);
    }

    std::unique_ptr<event_loop> loop_;
    listening_socket socket_;
    std::mutex mutex_;  ///< of all below
    coordinator told_;
    connection_id last_ = 0;
    std::map<connection_id, std::unique_ptr<line_connection>> peers_;
    std::map<connection_id, event_loop::watch> watches_;
    std::atomic<bool> ends_{false}, silent_{false};
    std::thread thread_;
};

}  // namespace halcyon::tests
