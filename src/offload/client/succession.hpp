#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "offload/client/server_connection.hpp"
#include "offload/client/server_start.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// How the clients of a node get the next server when theirs has ended: one at a time appoints and starts it, the
/// others wait for it. Whose turn it is says the one socket name that the system gives to one process only, and takes
/// back when that process ends; whoever gets it goes on where the one before stopped (see tenure_word).
class succession {
  public:
    struct about {
        std::string session;
        uint32_t client = 0;
        int max_restarts = 3;
        /// With a server that was appointed and does not come to serve.
        std::chrono::nanoseconds patience{std::chrono::seconds(60)};
        launch_environment environment = {};
        [[nodiscard]] int patience_ms() const;
        /// The first server: that it is slow to start delays the open, and takes nobody's place.
        [[nodiscard]] int first_patience_ms() const;
    };
    /// `stop`: a descriptor that is readable once nobody wants a server any more.
    succession(about a, segment& shared, int document, int stop)
        : about_(std::move(a)), segment_(shared), document_(document), stop_(stop) {}

    /// Held, it is this client's turn until the descriptor is closed or its process ends. Failure (system): another
    /// client has its turn (EADDRINUSE), or this process lacks what it takes.
    static result<descriptor> take_name(const std::string& session);

    /// The server of generation `ended` has ended. Returns a connection to one that serves; nullopt: there is none any
    /// more, and there will be none.
    std::optional<server_connection> after(uint32_t ended);

  private:
    enum class turn { done, lost, again };
    turn take_turn(uint32_t& ended, std::optional<server_connection>& next);
    std::optional<server_connection> meet(uint32_t generation, uint32_t& ended);
    bool wait_until_it_serves(const server_connection& server) const;
    [[nodiscard]] bool is_stuck(const tenure& now, uint32_t ended);
    [[nodiscard]] bool stopped() const;
    void abandon(const tenure& now);

    about about_;
    segment& segment_;
    int document_, stop_;
    tenure seen_;
    int64_t seen_since_ns_ = 0;
};

}  // namespace halcyon::offload
