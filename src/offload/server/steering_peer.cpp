#include "offload/server/steering_peer.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <utility>

#include "base/rapidjson.hpp"
#include "base/unix_socket.hpp"

namespace halcyon::offload {

result<steering_peer> steering_peer::of(const descriptor& socket) {
    const auto process = peer_process(socket.get());
    if (!process) return process.why();
    descriptor second(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
    // Of both: a process that reads nothing shall not make anybody wait.
    if (!second || ::fcntl(second.get(), F_SETFL, O_NONBLOCK) != 0) return system_failure("fcntl", errno);
    return steering_peer(std::move(second), *process);
}

bool steering_peer::send(std::string_view text) const {
    if (send_message(socket_.get(), std::as_bytes(std::span(text)), {})) return true;
    hang_up();
    return false;
}

void steering_peer::hang_up() const {
    ::shutdown(socket_.get(), SHUT_RDWR);
}

std::string steering_refusal(const failure& why) {
    static constexpr const char* kinds[] = {"", "config", "usage", "system", "unavailable", "internal"};
    rapidjson::StringBuffer out;
    rapidjson::Writer<rapidjson::StringBuffer> w(out);
    w.StartObject();
    w.Key("error");
    w.String(kinds[static_cast<size_t>(why.kind)]);
    w.Key("message");
    w.String(why.message.c_str());
    w.EndObject();
    return {out.GetString(), out.GetSize()};
}

}  // namespace halcyon::offload
