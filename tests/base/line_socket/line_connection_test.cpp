#include "base/line_socket/line_connection.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "base/line_socket/child_process.hpp"
#include "base/line_socket/waiting.hpp"

namespace halcyon {
namespace {

using namespace std::string_literals;
using input = line_connection::input;
using tests::child_process;

/// Two connected sockets: the peer's is bare.
class line_connections : public ::testing::Test {
  protected:
    line_connections() {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) ::abort();
        ours_ = descriptor(ends[0]);
        peer_ = descriptor(ends[1]);
    }
    line_connection connection(line_bounds bounds = {}) { return line_connection(std::move(ours_), bounds); }
    [[nodiscard]] int peer() const { return peer_.get(); }
    void close_peer() { peer_.reset(); }
    /// In a child that plays the peer: else it would itself keep the connection open.
    void close_ours() { ours_.reset(); }
    void peer_writes(const std::string& bytes) const {
        ASSERT_EQ(::send(peer(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }
    std::string peer_reads(size_t most) const {
        std::string bytes(most, '\0');
        const ssize_t got = ::recv(peer(), bytes.data(), most, MSG_DONTWAIT);
        bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
        return bytes;
    }

  private:
    descriptor ours_, peer_;
};

/// All lines until the stream ends or breaks.
struct everything {
    std::vector<std::string> lines;
    result<input> end = input::open;
};

everything read_all(line_connection& connection) {
    everything all;
    while (all.end && *all.end == input::open) {
        if (!tests::wait_for(connection.fd(), POLLIN)) {
            all.end = failure{error_kind::unavailable, "nothing came", 0};
            break;
        }
        all.end = connection.read_lines([&](std::string_view line) {
            all.lines.emplace_back(line);
            return true;
        });
    }
    return all;
}

bool write_whole(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (done < 0) return false;
        bytes.remove_prefix(static_cast<size_t>(done));
    }
    return true;
}

TEST_F(line_connections, a_line_that_comes_byte_by_byte_is_one_line) {
    line_connection c = connection();
    std::vector<std::string> lines;
    const auto take = [&](std::string_view line) {
        lines.emplace_back(line);
        return true;
    };
    for (const char byte : "{\"type\":\"heartbeat\"}\r\nnext\n"s) {
        peer_writes(std::string(1, byte));
        const auto got = c.read_lines(take);
        ASSERT_TRUE(got.ok()) << got.why().message;
        EXPECT_EQ(*got, input::open);
    }
    EXPECT_EQ(lines, (std::vector{"{\"type\":\"heartbeat\"}"s, "next"s}));
    EXPECT_EQ(*c.read_lines(take), input::open) << "nothing has come, and nothing is waited for";
}

TEST_F(line_connections, ten_thousand_lines_of_garbage_arrive_as_they_were_sent) {
    std::mt19937 random(7);
    std::vector<std::string> lines(10'000);
    std::string stream;
    for (std::string& line : lines) {
        line.resize(random() % 300);
        for (char& c : line) {
            do c = static_cast<char>(random());
            while (c == '\n' || c == '\r');
        }
        stream += line + "\n";
    }
    child_process sender([&] { return write_whole(peer(), stream) ? 0 : 1; });
    close_peer();
    line_connection c = connection();
    const everything all = read_all(c);
    ASSERT_TRUE(all.end.ok()) << all.end.why().message;
    EXPECT_TRUE(all.lines == lines);
    EXPECT_EQ(sender.exit_status(), 0);
}

TEST_F(line_connections, a_peer_that_stops_sending_still_gets_its_answer) {
    line_connection c = connection();
    peer_writes("question\nincompl");
    ASSERT_EQ(::shutdown(peer(), SHUT_WR), 0);
    const everything all = read_all(c);
    ASSERT_TRUE(all.end.ok());
    EXPECT_EQ(*all.end, input::ended);
    EXPECT_EQ(all.lines, std::vector{"question"s});
    EXPECT_EQ(c.incomplete_bytes(), 7U);
    ASSERT_TRUE(c.send("answer").ok());
    EXPECT_EQ(peer_reads(100), "answer\n");
    EXPECT_EQ(*c.read_lines([](std::string_view) { return true; }), input::ended) << "it stays so";
}

TEST_F(line_connections, a_killed_peer_ends_the_stream_after_what_it_sent) {
    child_process sender([&] {
        write_whole(peer(), "one\ntwo\nthr");
        ::pause();
        return 0;
    });
    close_peer();
    line_connection c = connection();
    ASSERT_TRUE(tests::wait_for(c.fd(), POLLIN));
    sender.kill(SIGKILL);
    const everything all = read_all(c);
    EXPECT_EQ(all.lines, (std::vector{"one"s, "two"s}));
    EXPECT_EQ(*all.end, input::ended);
    EXPECT_EQ(c.incomplete_bytes(), 3U);
    const auto sent = c.send("answer");
    ASSERT_FALSE(sent.ok()) << "and no SIGPIPE";
    EXPECT_EQ(sent.why().system_errno, EPIPE);
}

TEST_F(line_connections, a_peer_that_leaves_answers_unread_breaks_the_connection) {
    line_connection c = connection();
    ASSERT_TRUE(c.send("unread").ok());
    close_peer();
    const everything all = read_all(c);
    ASSERT_FALSE(all.end.ok());
    EXPECT_EQ(all.end.why().system_errno, ECONNRESET);
}

TEST_F(line_connections, a_line_without_end_costs_no_more_than_the_bound) {
    constexpr size_t gib = size_t{1} << 30, bound = size_t{64} << 10;
    child_process sender([&] {
        close_ours();
        const std::string piece(size_t{1} << 20, 'x');
        write_whole(peer(), "before\n");
        for (size_t sent = 0; sent < gib; sent += piece.size()) {
            if (!write_whole(peer(), piece)) return 1;
        }
        return 0;
    });
    close_peer();
    {
        line_connection c = connection({.most_line_bytes = bound});
        const everything all = read_all(c);
        EXPECT_EQ(all.lines, std::vector{"before"s});
        ASSERT_FALSE(all.end.ok());
        EXPECT_EQ(all.end.why().kind, error_kind::usage);
        EXPECT_EQ(all.end.why().system_errno, EMSGSIZE);
        EXPECT_EQ(all.end.why().message, "line too long: more than 65536 bytes without a line end");
        EXPECT_LE(c.memory_bytes(), bound + 2);
        EXPECT_FALSE(c.read_lines([](std::string_view) { return true; }).ok()) << "it stays so";
    }
    EXPECT_EQ(sender.exit_status(), 1) << "the sender sees that the connection was closed";
}

TEST_F(line_connections, a_paused_reader_gets_the_lines_that_have_come_later) {
    line_connection c = connection();
    peer_writes("1\n2\n3\n4");
    std::string taken;
    const auto until_even = [&](std::string_view line) {
        taken += line;
        return line != "2";
    };
    EXPECT_EQ(*c.read_lines(until_even), input::paused);
    EXPECT_EQ(taken, "12");
    EXPECT_EQ(*c.read_lines(until_even), input::open);
    EXPECT_EQ(taken, "123");
}

TEST_F(line_connections, a_full_output_buffer_refuses_whole_lines_and_loses_none) {
    line_connection c = connection({.most_output_bytes = 10'000});
    std::string expected;
    result<void> last;
    for (int i = 0; last && i < 1'000'000; ++i) {
        const std::string line = std::to_string(i) + std::string(static_cast<size_t>(i % 700), '.');
        last = c.send(line);
        if (last) expected += line + "\n";
    }
    ASSERT_FALSE(last.ok());
    EXPECT_EQ(last.why().kind, error_kind::unavailable);
    EXPECT_EQ(last.why().system_errno, ENOBUFS);
    EXPECT_TRUE(last.why().message.starts_with("slow reader: ")) << last.why().message;
    EXPECT_TRUE(c.wants_to_write());
    EXPECT_LE(c.bytes_waiting(), 10'000U);
    EXPECT_GT(c.bytes_waiting(), 9'000U);
    std::string got;
    while (got.size() < expected.size()) {
        const std::string piece = peer_reads(5000);
        ASSERT_TRUE(!piece.empty() || c.wants_to_write());
        got += piece;
        ASSERT_TRUE(c.flush().ok());
    }
    EXPECT_TRUE(got == expected);
    EXPECT_FALSE(c.wants_to_write());
    EXPECT_TRUE(c.send("again").ok());
    EXPECT_EQ(peer_reads(100), "again\n");
}

TEST_F(line_connections, a_line_longer_than_the_output_bound_is_refused_and_others_are_not) {
    line_connection c = connection({.most_output_bytes = 10});
    EXPECT_EQ(c.send("0123456789").why().system_errno, ENOBUFS);
    EXPECT_TRUE(c.send("012345678").ok());
    EXPECT_EQ(peer_reads(100), "012345678\n");
}

TEST_F(line_connections, a_line_to_send_holds_no_line_end) {
    line_connection c = connection();
    EXPECT_EQ(c.send("a\nb").why().kind, error_kind::usage);
    EXPECT_TRUE(c.send("").ok());
    EXPECT_TRUE(c.send("\0\xff\r"s).ok());
    EXPECT_EQ(peer_reads(100), "\n\0\xff\r\n"s);
}

/// Small socket buffers, odd sizes at both ends: every write may be a partial one.
TEST_F(line_connections, lines_survive_partial_writes) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        const int smallest = 1;
        ASSERT_EQ(::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &smallest, sizeof smallest), 0);
        line_connection from{descriptor(ends[0]), {.most_output_bytes = 20'000}};
        line_connection to{descriptor(ends[1])};
        std::vector<std::string> sent, got;
        while (sent.size() < 300) {
            const std::string line(random() % 5000, static_cast<char>('a' + random() % 26));
            if (from.send(line)) sent.push_back(line);
            for (uint32_t reads = random() % 4; reads > 0; --reads) {
                ASSERT_TRUE(to.read_lines([&](std::string_view l) {
                                  got.emplace_back(l);
                                  return random() % 3 != 0;
                              }).ok());
            }
            ASSERT_TRUE(from.flush().ok());
        }
        while (got.size() < sent.size()) {
            ASSERT_TRUE(from.flush().ok());
            ASSERT_TRUE(to.read_lines([&](std::string_view l) {
                              got.emplace_back(l);
                              return true;
                          }).ok());
        }
        ASSERT_TRUE(got == sent) << "seed " << seed;
    }
}

TEST_F(line_connections, ending_the_output_lets_the_peer_read_all_and_then_the_end) {
    line_connection c = connection();
    ASSERT_TRUE(c.send("last").ok());
    c.end_output();
    EXPECT_EQ(peer_reads(100), "last\n");
    char byte = 0;
    EXPECT_EQ(::recv(peer(), &byte, 1, MSG_DONTWAIT), 0);
}

}  // namespace
}  // namespace halcyon
