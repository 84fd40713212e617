#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/event_loop.hpp"
#include "base/line_socket/line_connection.hpp"
#include "base/line_socket/listening_socket.hpp"
#include "base/line_socket/peer_check.hpp"
#include "coordinate/coordinator/effects.hpp"
#include "coordinate/daemon/client_handler.hpp"
#include "coordinate/daemon/daemon_counts.hpp"
#include "coordinate/daemon/deadlines.hpp"
#include "coordinate/daemon/reading_turns.hpp"
#include "coordinate/daemon/unproven.hpp"

namespace halcyon::coordinate {

/// All connections of clients on one event loop: proves whose they are, reads lines, sends lines, and bounds what each
/// may take. Nothing here waits for a client.
///
/// A connection is read once a round of the loop, and those of a user no longer than its part of a pass, so that
/// clients that never stop sending delay nobody but others of their user. Lines for which there was no time in one pass
/// are handled in later ones, in their order. A client that does not read is closed when more than its bound waits for
/// it, and so is one whose user's connections together take more memory than a user may.
class clients {
  public:
    clients(event_loop& loop, client_handler& handler, daemon_counts& counted);
    ~clients();
    clients(const clients&) = delete;
    clients& operator=(const clients&) = delete;

    /// Checks TCP peers; without, those that have to prove who they are are refused. Of the same authority as before:
    /// checks go on. Else, those that are being checked are to try again.
    result<void> start_checks(std::optional<munge> authority);
    void bound_user(int64_t most_buffered_bytes) { most_per_user_ = most_buffered_bytes; }

    void add(listening_socket::accepted from);
    /// Waits for something to read, `rest_ns` at most, and reads each client that has sent anything once, then until
    /// there is nothing more: for 20 ms, and 20 ms those that waited for this pass. Returns whether none was left out
    /// for lack of time, but for those that wait since their user had its part.
    result<bool> read_all(int64_t rest_ns);
    /// Of a connection that is gone or finishes: nothing happens.
    void send(connection_id id, std::string_view line);
    /// Closes once all is sent; nothing of it is heard any more.
    void finish(connection_id id);
    void finish_all();
    /// Those that had a time to prove who they are, or to take their last lines, and let it pass.
    void expire(int64_t now_ns);

    [[nodiscard]] size_t count() const { return all_.size(); }
    [[nodiscard]] int64_t buffered_bytes() const { return buffered_; }

  private:
    enum class stage : uint8_t {
        proving,   ///< has not shown who it is
        checking,  ///< what it showed is being checked
        open,
        finishing,  ///< its last lines are to be sent
        lingering,  ///< they are; waits for the client to close, which otherwise could lose them
    };
    struct client {
        client(descriptor socket, line_bounds bounds) : connection(std::move(socket), bounds) {}
        line_connection connection;
        event_loop::watch watch = event_loop::watch::none;
        uint32_t events = 0;
        stage at = stage::proving;
        std::optional<tcp_challenge> challenge;
        int64_t came_ns = 0;  ///< of TCP
        uid_t user = 0;
        bool administrator = false;
        int64_t charged_bytes = 0;
        size_t discarded_bytes = 0;
    };

    void ready(connection_id id, uint32_t events);
    void read_or_wait(connection_id id, client& c);
    void read_in_turn(connection_id id, client& c);
    void read_waiting(int64_t until_ns);
    void read(connection_id id, client& c);
    bool take(connection_id id, client& c, std::string_view line);
    bool wait_for_proof(connection_id id, const std::string& address);
    void open(connection_id id, client& c, const peer_identity& who);
    void collect_verdicts();
    void wait_for(connection_id id, client& c, uint32_t events);
    void flush(connection_id id, client& c);
    void linger(connection_id id, client& c);
    /// False: the user has too much, and the client is gone.
    bool charge(connection_id id, client& c);
    void refuse(connection_id id, client& c, std::string_view last_line);
    void drop(connection_id id);
    void has_proven(connection_id id);

    event_loop& loop_;
    client_handler& handler_;
    daemon_counts& counted_;
    std::unique_ptr<peer_check> checks_;
    std::optional<munge> checked_by_;
    event_loop::watch checks_watch_ = event_loop::watch::none;
    int64_t most_per_user_ = int64_t{64} << 20U;
    std::unordered_map<connection_id, std::unique_ptr<client>> all_;
    std::unordered_map<uid_t, int64_t> charged_;  ///< bytes of each user
    unproven unproven_;                           ///< `proving` and `checking`
    deadlines prove_by_;
    deadlines leave_by_;                 ///< `finishing` and `lingering`
    std::vector<connection_id> broken_;  ///< to be dropped
    int64_t buffered_ = 0;
    connection_id latest_ = 0;
    reading_turns turns_;
    uint64_t handled_ = 0;       ///< events since the start: whether there was anything to do
    uint64_t read_ = 0;          ///< those of them that did not have to wait
    bool left_in_part_ = false;  ///< of a client that was read there may be more
    int64_t read_until_ns_ = 0;  ///< the open client that is being read
};

}  // namespace halcyon::coordinate
