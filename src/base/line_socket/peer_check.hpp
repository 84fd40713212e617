#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "base/line_socket/tcp_challenge.hpp"

namespace halcyon {

/// Checks the answers of TCP peers on a thread of its own: munged may take its time, and others must not wait for it.
///
/// Threads: the event loop asks and collects; the thread checks, in the order asked. Both lists are under the mutex;
/// the eventfd is written after a verdict is in its list.
class peer_check {
  public:
    /// `authority`: needed unless all challenges are insecure ones.
    static result<std::unique_ptr<peer_check>> start(std::optional<munge> authority, size_t most_waiting);
    /// Waits for the check that is under way.
    ~peer_check();

    /// `connection`: the caller's number for it; a connection that is gone by then is the caller's to recognise.
    /// False: too many wait already.
    bool ask(uint64_t connection, tcp_challenge challenge, std::string answer);

    struct verdict {
        uint64_t connection = 0;
        result<peer_identity> peer;
    };
    /// Readable when there are verdicts.
    [[nodiscard]] int fd() const { return ready_.get(); }
    std::vector<verdict> collect();

  private:
    struct question {
        uint64_t connection = 0;
        tcp_challenge challenge;
        std::string answer;
    };
    peer_check(std::optional<munge> authority, size_t most_waiting, descriptor ready);
    void run();
    bool take(question& q);

    std::optional<munge> authority_;
    size_t most_waiting_;
    descriptor ready_;
    std::mutex mutex_;
    std::condition_variable asked_;
    std::deque<question> questions_;
    std::vector<verdict> verdicts_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace halcyon
