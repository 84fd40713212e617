#include "insitu/protocol/worker_messages.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/shared_memory.hpp"
#include "base/unix_socket.hpp"

namespace halcyon::insitu {
namespace {

constexpr uint32_t packet_magic = 0x48505747;  // "HPWG"
constexpr size_t most_inline_bytes = 48 << 10;
constexpr uint64_t most_bytes = uint64_t{1} << 30;

struct packet_head {
    uint32_t magic = packet_magic;
    message_kind kind = message_kind::start;
    uint64_t bytes = 0;      ///< of the body
    uint64_t in_memory = 0;  ///< 1: it lies in the last descriptor
};
static_assert(has_copied_layout<packet_head, 24, 8>());

failure senseless() {
    return {error_kind::usage, "a message that makes no sense", 0};
}

}  // namespace

result<packet> packed(message_kind kind, std::vector<std::byte> body, std::vector<descriptor> descriptors) {
    packet_head head;
    head.kind = kind;
    head.bytes = body.size();
    head.in_memory = body.size() > most_inline_bytes ? 1 : 0;
    packet p;
    p.bytes.resize(sizeof head);
    std::memcpy(p.bytes.data(), &head, sizeof head);
    p.descriptors = std::move(descriptors);
    if (head.in_memory == 0) {
        p.bytes.insert(p.bytes.end(), body.begin(), body.end());
        return p;
    }
    auto memory = shared_memory::create("halcyon-message", body.size(), false);
    if (!memory) return memory.why();
    std::memcpy(memory->data(), body.data(), body.size());
    descriptor own(::fcntl(memory->fd(), F_DUPFD_CLOEXEC, 0));
    if (!own) return failure{error_kind::system, "no descriptor is left for a message", EMFILE};
    p.descriptors.push_back(std::move(own));
    return p;
}

result<received_message> receive_packet(int socket, int timeout_ms) {
    auto m = receive_message(socket, sizeof(packet_head) + most_inline_bytes, timeout_ms);
    if (!m) return m.why();
    if (m->bytes.empty()) return failure{error_kind::system, "the other side is gone", 0};
    packet_head head;
    if (m->bytes.size() < sizeof head || m->descriptors_lost) return senseless();
    std::memcpy(&head, m->bytes.data(), sizeof head);
    if (head.magic != packet_magic || head.bytes > most_bytes) return senseless();
    received_message got{head.kind, {}, std::move(m->descriptors)};
    if (head.in_memory == 0) {
        got.body.assign(m->bytes.begin() + sizeof head, m->bytes.end());
    } else {
        if (got.descriptors.empty()) return senseless();
        auto memory = shared_memory::map(std::move(got.descriptors.back()), 0, false);
        got.descriptors.pop_back();
        if (!memory || memory->size() < head.bytes) return senseless();
        got.body.assign(memory->data(), memory->data() + head.bytes);
    }
    if (got.body.size() != head.bytes) return senseless();
    return got;
}

result<void> send_packet(int socket, const packet& p) {
    std::vector<int> descriptors;
    for (const descriptor& d : p.descriptors) descriptors.push_back(d.get());
    return send_message(socket, p.bytes, descriptors);
}

}  // namespace halcyon::insitu
