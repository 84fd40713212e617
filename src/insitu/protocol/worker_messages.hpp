#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/shared_layout.hpp"
#include "insitu/protocol/byte_stream.hpp"
#include "offload/actions/plugin_host.hpp"

/// Messages on the socket pair between a server and the worker of one plugin:
///
///     server → worker  start, with the segment (read only) and the session's document
///     worker → server  loaded: the code is there, or why not
///     worker → server  ready: the plugin has started, or why not
///     server → worker  spill, with a client's spill file (read only), before the first run that needs it
///     server → worker  run
///     worker → server  done: what became of it
///     server → worker  finalize
///     worker → server  finalized, and the worker ends
///
/// A worker is sent a run when it is ready, or has done the one before.
namespace halcyon::insitu {

enum class message_kind : uint32_t { start = 1, spill, run, finalize, loaded, ready, done, finalized };

inline constexpr uint32_t worker_protocol_version = 1;

struct start_message {
    static constexpr message_kind kind = message_kind::start;
    uint32_t version = worker_protocol_version;
    int32_t server = 0;  ///< its process
    uint32_t action_id = 0;
    std::string directory;  ///< of the run's records
    template <class Stream>
    void fields(Stream& s) {
        s(version), s(server), s(action_id), s(directory);
    }
};

struct spill_message {
    static constexpr message_kind kind = message_kind::spill;
    uint32_t client = 0;
    template <class Stream>
    void fields(Stream& s) {
        s(client);
    }
};

struct run_message {
    static constexpr message_kind kind = message_kind::run;
    uint32_t event_id = 0;
    int64_t iteration = 0;
    int32_t rank = -1;
    uint8_t can_raise = 0;
    uint64_t left_out = 0;
    std::vector<offload::named_block> blocks, once;
    std::vector<double> parameters;
    template <class Stream>
    void fields(Stream& s) {
        s(event_id), s(iteration), s(rank), s(can_raise), s(left_out), s(blocks), s(once), s(parameters);
    }
};
static_assert(has_copied_layout<offload::named_block, 16, 8>());

struct finalize_message {
    static constexpr message_kind kind = message_kind::finalize;
    template <class Stream>
    void fields(Stream& /*s*/) {}
};

/// What became of something; `why` is empty where it went well.
struct reply {
    uint8_t ok = 1;
    uint32_t error = 0;  ///< an error_kind
    std::string why;
    void set(const result<void>& outcome) {
        ok = outcome.ok() ? 1 : 0;
        if (ok != 0) return;
        error = static_cast<uint32_t>(outcome.why().kind);
        why = outcome.why().message.substr(0, size_t{1} << 16);
    }
};

template <message_kind which>
struct plain_reply : reply {
    static constexpr message_kind kind = which;
    template <class Stream>
    void fields(Stream& s) {
        s(ok), s(error), s(why);
    }
};
using loaded_message = plain_reply<message_kind::loaded>;
using ready_message = plain_reply<message_kind::ready>;
using finalized_message = plain_reply<message_kind::finalized>;

struct done_message : reply {
    static constexpr message_kind kind = message_kind::done;
    std::vector<uint32_t> raised;
    uint64_t unseen = 0;
    template <class Stream>
    void fields(Stream& s) {
        s(ok), s(error), s(why), s(raised), s(unseen);
    }
};

/// A message as it goes over the socket: what is long goes through memory of its own.
struct packet {
    std::vector<std::byte> bytes;
    std::vector<descriptor> descriptors;
};
/// Failure (system): there is no memory for a long one.
result<packet> packed(message_kind kind, std::vector<std::byte> body, std::vector<descriptor> descriptors);
template <class Message>
result<packet> packed(Message m, std::vector<descriptor> descriptors = {}) {
    byte_writer out;
    m.fields(out);
    return packed(Message::kind, out.take(), std::move(descriptors));
}

struct received_message {
    message_kind kind;
    std::vector<std::byte> body;
    std::vector<descriptor> descriptors;
};
/// Waits for a message, `timeout_ms` at most. Failure (unavailable): none came; system: the other side is gone; usage:
/// it makes no sense.
result<received_message> receive_packet(int socket, int timeout_ms);
/// Failure (usage): the body is none of that message.
template <class Message>
result<Message> unpacked(const received_message& received) {
    Message m;
    byte_reader in(received.body);
    m.fields(in);
    if (received.kind == Message::kind && in.is_whole()) return m;
    return failure{error_kind::usage, "a message that makes no sense", 0};
}

/// Sends it. Failure (system): EAGAIN where the socket is not to wait and has no room.
result<void> send_packet(int socket, const packet& p);

}  // namespace halcyon::insitu
