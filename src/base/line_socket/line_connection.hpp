#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/line_socket/line_buffer.hpp"
#include "base/line_socket/output_buffer.hpp"

namespace halcyon {

/// How much memory one connection may take.
struct line_bounds {
    size_t most_line_bytes = size_t{64} << 10;     ///< received, without the line end
    size_t most_output_bytes = size_t{256} << 10;  ///< that wait for a slow reader, line ends included
};

/// One end of a stream socket on which each message is a line. It never waits: it is for an event loop. Once lines of
/// some length have come and gone it allocates nothing.
///
/// After a failure the caller closes it (destroys it); lines that were handed out until then count.
class line_connection {
  public:
    enum class input : uint8_t {
        open,
        ended,   ///< the peer sends nothing any more; it may still read
        paused,  ///< the caller's function said so; call again, for lines may already be here
    };

    /// Whether the socket itself is non-blocking does not matter.
    explicit line_connection(descriptor socket, line_bounds bounds = {});

    /// When the socket is readable: receives once and gives each complete line to `take`, whose text lies in the
    /// connection's buffer and lasts until `take` returns. `take` says whether to go on; it may send on this
    /// connection, but must not destroy it. Receiving once is fair: a peer that never stops gets one turn a round.
    ///
    /// Failure (usage, EMSGSIZE): a line is too long. System: the connection broke.
    template <class Take>
    result<input> read_lines(Take&& take) {
        if (const bool more = deliver(take); !more) return input::paused;
        auto got = receive();
        if (!got) return got;
        if (const bool more = deliver(take); !more) return input::paused;
        if (auto fits = check_length(); !fits) return fits.why();
        return got;
    }

    /// The two steps of read_lines(). One recv(); failure (system): the connection broke. Usage: check_length().
    result<input> receive();
    /// The next line that has been received; valid until receive() is called.
    [[nodiscard]] std::optional<std::string_view> next_line() { return input_.next(); }
    /// Failure (usage, EMSGSIZE): a line of more than the bound has begun. All lines before it have been handed out.
    result<void> check_length() const;

    /// Sends the line and its end, or keeps what the socket does not take. All of it or nothing: failure (unavailable,
    /// ENOBUFS): the peer reads too slowly, and the line does not fit behind the bytes that wait already. Usage: it
    /// holds a LF, and would be two. System: the connection broke.
    result<void> send(std::string_view line);
    /// When the socket is writable: sends what waits. Failure (system): the connection broke.
    result<void> flush();
    /// Whether bytes wait, so that the loop should watch for EPOLLOUT.
    [[nodiscard]] bool wants_to_write() const { return !output_.empty(); }
    [[nodiscard]] size_t bytes_waiting() const { return output_.size(); }
    /// Nothing follows: the peer sees the end of the stream after the bytes that the socket has taken.
    void end_output();

    /// Received bytes of which no line was made: after `ended`, of a line that the peer did not complete.
    [[nodiscard]] size_t incomplete_bytes() const { return input_.left(); }
    /// Memory that it holds now.
    [[nodiscard]] size_t memory_bytes() const { return input_.capacity() + output_.capacity(); }
    [[nodiscard]] int fd() const { return socket_.get(); }

  private:
    template <class Take>
    bool deliver(Take& take) {
        while (const auto line = input_.next()) {
            if (!take(*line)) return false;
        }
        return true;
    }
    result<size_t> write_now(std::string_view line);

    descriptor socket_;
    line_bounds bounds_;
    line_buffer input_;
    output_buffer output_;
    bool has_ended_ = false;
};

}  // namespace halcyon
