#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/event_loop.hpp"
#include "base/line_socket/line_client.hpp"
#include "coordinate/agent/refused_pause.hpp"
#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {

/// An agent's connection to one coordinator, made again whenever it breaks. Where several daemons are elected, their
/// addresses are tried one after the other, without a pause until all were. A daemon that was silent for
/// `lease_silence_s` is left then, and nothing that comes from it later is believed: another one may have the lead.
/// Where there is one daemon only, it stays; but words that come behind such a silence may have lain in the socket
/// while this process was not run, and the daemon may have taken back meanwhile what they give. So `late` follows them,
/// each time until the socket is empty.
///
/// A coordinator that refuses this agent is left alone for a while (refused_pause.hpp); a daemon that stands by names
/// no time for that. An address that does not let this user in counts as a refusal, too.
///
/// Threads: connecting may take its time (munged, a node that does not answer), so a thread does that, one at a time;
/// it leaves what it got under the mutex and then writes the eventfd. All else is the loop's. Where the system has no
/// thread, that is counted, and tried again with the next round.
class coordinator_link {
  public:
    struct events {
        std::function<void()> connected;
        /// `heard_ns`: a time of the clock at which it had not been read yet.
        std::function<void(const from_coordinator&, int64_t heard_ns)> received;
        std::function<void()> disconnected;
        std::function<void(const std::string& why)> failed = [](const std::string&) {};  ///< to connect
        std::function<void()> late = [] {};
        std::function<int64_t()> clock_ns = monotonic_ns;
    };
    /// `addresses`: separated by commas. `how` to connect; its timeout is the link's own. `agent`: a name that no other
    /// agent has. Failure (config): an address. (system): no descriptors.
    static result<std::unique_ptr<coordinator_link>> start(event_loop& loop, const std::string& addresses,
                                                           line_client::options how, std::string_view agent, events on);
    ~coordinator_link();
    coordinator_link(const coordinator_link&) = delete;
    coordinator_link& operator=(const coordinator_link&) = delete;

    /// Begins to connect where there is no connection, and the last try was long enough ago.
    void care(int64_t now_ns);
    /// Nothing where there is no connection. Failure (usage): the message cannot be written.
    result<void> send(const to_coordinator& message);
    void close();
    [[nodiscard]] uint64_t misunderstood() const { return misunderstood_; }
    [[nodiscard]] uint64_t threads_missing() const { return threads_missing_; }

  private:
    coordinator_link(event_loop& loop, std::vector<socket_address> addresses, line_client::options how,
                     std::string_view agent, events on, descriptor bell)
        : pause_(agent),
          loop_(loop),
          addresses_(std::move(addresses)),
          how_(std::move(how)),
          on_(std::move(on)),
          bell_(std::move(bell)) {}
    void take_connection();
    void take_failure();
    void heed(const from_coordinator& message);
    void read();
    void watch_output();
    void note_late();
    [[nodiscard]] bool was_silent(int64_t now_ns) const;
    [[nodiscard]] bool has_other_addresses() const { return addresses_.size() > 1; }

    refused_pause pause_;
    event_loop& loop_;
    std::vector<socket_address> addresses_;
    size_t next_ = 0;  ///< address to be tried
    line_client::options how_;
    events on_;
    descriptor bell_;  ///< eventfd
    event_loop::watch bell_watch_ = event_loop::watch::none, socket_watch_ = event_loop::watch::none;
    std::optional<line_connection> connection_;
    bool writes_ = false;
    bool is_late_ = false;  ///< what is read now may have come long ago
    int64_t tried_ns_ = 0;  ///< the first address
    int64_t heard_ns_ = 0;
    int64_t refused_until_ns_ = 0;
    uint64_t misunderstood_ = 0, threads_missing_ = 0;

    std::thread connector_;
    std::mutex mutex_;
    bool connecting_ = false;
    std::optional<line_connection> made_;
    std::optional<failure> connect_failure_;
};

}  // namespace halcyon::coordinate
