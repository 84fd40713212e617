#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/line_socket/peer_identity.hpp"
#include "base/munge.hpp"

namespace halcyon {

/// How a server learns whose a TCP connection is. Its first line is the challenge:
///
///     halcyon 1 munge 0f3a…        (a number that nobody can guess and that no other connection gets)
///     halcyon 1 insecure
///
/// The client's first line answers with a MUNGE credential, or without MUNGE with its own claim `claim <uid> <gid>
/// <pid>`; the server's second line is `welcome` or `refused: <reason>`. Either line of the server may be a refusal.
///
/// The credential's text holds the challenge's number and the addresses and ports of both ends as each end sees them.
/// So a credential serves for one connection: whoever overhears it cannot use it for another, and a server that passes
/// on another server's challenge gets a credential that names itself. That munged refuses to decode a credential twice
/// is not relied upon. MUNGE tells who connected; it does not protect the lines that follow on the network, and the
/// client does not learn who the server is. Between the ends no address may be translated.
struct tcp_challenge {
    std::string line;     ///< to be sent to the client
    std::string payload;  ///< what its credential must hold; empty: its claim is believed
};

result<tcp_challenge> challenge_peer(int socket, bool insecure);

/// Server: whose connection it is. `authority` is needed for challenges with a payload. Failure (usage): the answer is
/// wrong. Unavailable: MUNGE does not answer.
result<peer_identity> check_answer(const tcp_challenge& challenge, std::string_view answer, const munge* authority);

/// Client: whether the server believes claims.
bool is_insecure(std::string_view challenge);

/// Client: the answer to the challenge that came on the socket. Failure (usage): it is no challenge. Unavailable: it
/// asks for MUNGE, which cannot be used here.
result<std::string> answer_challenge(int socket, std::string_view challenge, const std::string& munge_socket);

/// A refusal that ends with `again_end` is of the moment, not of this client.
inline constexpr std::string_view welcome_line = "welcome", refusal_begin = "refused: ", again_end = "; try again";

/// Of one line, whatever the reason holds.
std::string refusal_line(std::string_view reason);
/// Of a client that could not be checked: it is asked to try again where MUNGE is not available.
std::string refusal_line(const failure& why);

}  // namespace halcyon
