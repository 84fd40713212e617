#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/segment/session_document.hpp"
#include "offload/server/client_roster.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/steering_peer.hpp"

namespace halcyon::offload {

/// What users ask of the steerable parameters while the simulation runs. The server of node 0 checks it, puts it into
/// the mailbox of its segment, and says when it took effect: to those who are connected, in the log, and in the
/// records.
///
/// A message is a JSON object: `{}` asks for the parameters, `{"set": {"kappa": 0.3}}` for new values, all or none of
/// which are accepted. Every message has an answer: the parameters, `{"accepted": 7}` (the number of the request), or
/// steering_refusal(). When a request takes effect, everybody who is connected is told.
///
/// The loop's thread alone uses it. It writes the mail of the steering_box.
class steering {
  public:
    /// `log`: where a line goes that is no departure from the normal path.
    steering(const segment& shared, const model& data, const session_document& about, const client_roster& clients,
             journal& notes, journal::log_function log);

    using peer = std::shared_ptr<const steering_peer>;
    /// A message. Empty: the peer has just connected, and is told of the parameters.
    void take(const peer& from, const std::string& message);
    /// Its connection is over.
    void forget(const peer& gone) { std::erase(peers_, gone); }
    /// False: the client cannot know that.
    bool took_effect(uint32_t client, const event_record& e);
    /// The session is over: counts as a message what never took effect.
    void end();

  private:
    result<std::string> answer(const peer& from, const std::string& message);
    result<uint64_t> accept(const peer& from, const std::vector<std::pair<size_t, double>>& values);
    result<size_t> number_of(std::string_view name, double value) const;
    [[nodiscard]] result<void> can_be_steered() const;
    [[nodiscard]] std::string parameters() const;
    [[nodiscard]] steering_values values() const;
    void tell_all(const std::string& text);

    const segment& segment_;
    const model& model_;
    const client_roster& clients_;
    journal& journal_;
    journal::log_function log_;
    int node_;
    std::vector<uint32_t> ids_;
    steering_mail mail_;  ///< as in the mailbox
    std::vector<peer> peers_;
};

}  // namespace halcyon::offload
