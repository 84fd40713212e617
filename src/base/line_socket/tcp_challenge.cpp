#include "base/line_socket/tcp_challenge.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>

#include "base/line_socket/name_lookup.hpp"

namespace halcyon {
namespace {

constexpr std::string_view munge_begin = "halcyon 1 munge ", insecure_challenge = "halcyon 1 insecure",
                           claim_begin = "claim ";
constexpr size_t nonce_bytes = 16;

result<std::string> make_nonce() {
    std::array<uint8_t, nonce_bytes> bytes{};
    ssize_t got = 0;
    do got = ::getrandom(bytes.data(), bytes.size(), 0);
    while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(bytes.size())) return system_failure("getrandom", errno);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const uint8_t b : bytes) {
        text += digits[b >> 4];
        text += digits[b & 15];
    }
    return text;
}

/// What the credential is bound to; `is_server` tells which end this process is.
result<std::string> payload_of(int socket, std::string_view nonce, bool is_server) {
    const auto here = local_end(socket), there = remote_end(socket);
    if (!here) return here.why();
    if (!there) return there.why();
    const tcp_name &server = is_server ? *here : *there, &client = is_server ? *there : *here;
    return "halcyon line socket 1\n" + std::string(nonce) + "\n" + server.text() + "\n" + client.text() + "\n";
}

template <class Number>
bool read_number(std::string_view& rest, Number& number) {
    const auto [end, why] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (why != std::errc{}) return false;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return true;
}

bool skip(std::string_view& rest, std::string_view expected) {
    if (!rest.starts_with(expected)) return false;
    rest.remove_prefix(expected.size());
    return true;
}

result<peer_identity> read_claim(std::string_view answer) {
    peer_identity who;
    who.by = peer_identity::witness::nobody;
    if (!skip(answer, claim_begin) || !read_number(answer, who.uid) || !skip(answer, " ") ||
        !read_number(answer, who.gid) || !skip(answer, " ") || !read_number(answer, who.pid) || !answer.empty())
        return failure{error_kind::usage, "no answer to the challenge; expected claim <uid> <gid> <pid>", 0};
    return who;
}

}  // namespace

result<tcp_challenge> challenge_peer(int socket, bool insecure) {
    if (insecure) return tcp_challenge{std::string(insecure_challenge), {}};
    auto nonce = make_nonce();
    if (!nonce) return nonce.why();
    auto payload = payload_of(socket, *nonce, true);
    if (!payload) return payload.why();
    return tcp_challenge{std::string(munge_begin) + *nonce, std::move(*payload)};
}

result<peer_identity> check_answer(const tcp_challenge& challenge, std::string_view answer, const munge* authority) {
    if (challenge.payload.empty()) return read_claim(answer);
    if (authority == nullptr) return failure{error_kind::internal, "no MUNGE to check a credential with", 0};
    const auto who = authority->decode(answer);
    if (!who) return who.why();
    if (who->payload != challenge.payload)
        return failure{error_kind::usage,
                       "the credential is for another connection (are addresses translated between the two ends?)", 0};
    return peer_identity{who->uid, who->gid, 0, peer_identity::witness::munge};
}

bool is_insecure(std::string_view challenge) {
    return challenge == insecure_challenge;
}

result<std::string> answer_challenge(int socket, std::string_view challenge, const std::string& munge_socket) {
    if (is_insecure(challenge))
        return std::string(claim_begin) + std::to_string(::geteuid()) + " " + std::to_string(::getegid()) + " " +
               std::to_string(::getpid());
    if (!skip(challenge, munge_begin) || challenge.size() != 2 * nonce_bytes)
        return failure{error_kind::usage, "the server's first line is no challenge of Halcyon's version 1", 0};
    const auto payload = payload_of(socket, challenge, false);
    if (!payload) return payload.why();
    const auto authority = munge::load(munge_socket);
    if (!authority) return authority.why();
    return authority->encode(*payload);
}

std::string refusal_line(std::string_view reason) {
    std::string line = std::string(refusal_begin) + std::string(reason);
    for (char& c : line) {
        if (c == '\n' || c == '\r') c = ' ';
    }
    return line;
}

std::string refusal_line(const failure& why) {
    return refusal_line(why.kind == error_kind::unavailable ? why.message + std::string(again_end) : why.message);
}

}  // namespace halcyon
