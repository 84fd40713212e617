// An exchange of lines over the event loop allocates nothing once it runs.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdlib>
#include <new>
#include <string>

#include "base/clock.hpp"
#include "base/event_loop.hpp"
#include "base/line_socket/line_connection.hpp"
#include "base/user_limits.hpp"

namespace {

size_t allocations = 0;

}  // namespace

void* operator new(size_t bytes) {
    ++allocations;
    if (void* const memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
// Where it is inlined, GCC sees free() behind new.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

namespace halcyon {
namespace {

/// A server's side of a connection: answers each line, within its user's limits, and pushes a deadline on.
class echo {
  public:
    echo(event_loop& loop, user_limits& limits, descriptor socket)
        : loop_(loop), limits_(limits), connection_(std::move(socket)) {
        limits_.open(::getuid(), monotonic_ns());
        deadline_ = loop_.timers().add([this] { ++missed_; });
        watch_ = loop_.add(connection_.fd(), EPOLLIN, [this](uint32_t) { read(); }).value();
    }
    [[nodiscard]] uint64_t answered() const { return answered_; }
    [[nodiscard]] uint64_t missed() const { return missed_; }

  private:
    void read() {
        const auto got = connection_.read_lines([this](std::string_view line) {
            const int64_t now = monotonic_ns();
            loop_.timers().set(deadline_, now + 60'000'000'000);
            const bool is_sent = limits_.receive(::getuid(), line.size(), now) && connection_.send(line).ok();
            answered_ += is_sent ? 1 : 0;
            return is_sent;
        });
        if (!got) loop_.stop();
    }

    event_loop& loop_;
    user_limits& limits_;
    line_connection connection_;
    timer_queue::timer deadline_{};
    event_loop::watch watch_{};
    uint64_t answered_ = 0, missed_ = 0;
};

TEST(steady_state, a_line_and_its_answer_allocate_nothing) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    auto loop = event_loop::start().value();
    user_limits limits({.messages = {1e9, 1e9}, .bytes = {1e12, 1e12}});
    echo server(*loop, limits, descriptor(ends[0]));
    line_connection client{descriptor(ends[1])};
    const std::string line(500, 'x');
    uint64_t received = 0;
    const auto exchange = [&](uint64_t lines) {
        for (uint64_t sent = 0; sent < lines; ++sent) {
            ASSERT_TRUE(client.send(line).ok());
            // Some come alone, some together.
            if (sent % 3 != 0) continue;
            ASSERT_TRUE(loop->run_once().ok());
            ASSERT_TRUE(client.read_lines([&](std::string_view) { return ++received > 0; }).ok());
        }
    };
    exchange(100);
    ASSERT_GT(allocations, 0U) << "they are counted";
    const size_t before = allocations;
    exchange(3000);
    EXPECT_EQ(allocations, before);
    EXPECT_GT(received, 3000U);
    EXPECT_EQ(server.missed(), 0U);
}

}  // namespace
}  // namespace halcyon
