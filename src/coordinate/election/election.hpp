#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "coordinate/election/etcd_client.hpp"

namespace halcyon::coordinate {

/// One of the daemons of a file system leads; etcd elects it. Its thread speaks with etcd, so that nobody waits for
/// etcd but this thread.
///
/// A leader has a lease at etcd, which it renews. It leads until `standing::until_ns`: the lease's time counted from
/// before the renewal was asked for, less `margin_ns`. So it stops before etcd can give the lead to another daemon,
/// whatever happens to etcd, to the network and to this process, as long as both clocks run equally fast within the
/// margin. A term that was lost is never taken up again: the next one has a higher epoch.
///
/// Threads: the daemon's loop calls everything public; the thread leaves news under the mutex and writes the eventfd.
class election {
  public:
    /// How long before the end of the lease the leader stops, in which words that it has sent may still be under way.
    static constexpr int64_t margin_ns = 1'000'000'000;

    struct settings {
        std::vector<std::string> servers;  ///< of etcd: "http://host:2379"
        std::string prefix;                ///< of the keys
        int64_t lease_s = 4;
        std::string self;  ///< what others are told while this daemon leads: its address
    };
    struct standing {
        uint64_t epoch = 0;    ///< of this daemon's term; 0: it does not lead
        int64_t until_ns = 0;  ///< of now_ns(): when it does not any more
        std::string leader;    ///< empty: nobody, or etcd does not answer
    };

    /// Failure (unavailable): no libcurl. etcd need not answer yet.
    static result<std::unique_ptr<election>> start(const settings& how);
    ~election();
    election(const election&) = delete;
    election& operator=(const election&) = delete;

    /// By CLOCK_BOOTTIME, which goes on while the machine is suspended, as etcd's clock does.
    static int64_t now_ns();

    /// Is readable when something has changed, until look().
    [[nodiscard]] int fd() const { return bell_.get(); }
    standing look();
    /// For the log, since this was asked last.
    std::vector<std::string> news();
    /// Gives the lead of this term back; the daemon must have stopped to lead. Others can take it at once.
    void resign(uint64_t epoch);

  private:
    election(const settings& how, http_client http, descriptor bell);
    void run();
    int64_t campaign();
    int64_t hold();
    void leave(bool tell_etcd);
    void publish(const standing& now);
    void say(std::string text);

    settings how_;
    int64_t step_ns_;  ///< between looks, and renewals
    etcd_client etcd_;
    descriptor bell_;  ///< eventfd

    // Of the thread.
    etcd_client::lease lease_;
    standing own_;
    std::string last_said_;

    std::mutex mutex_;
    std::condition_variable wake_;
    standing shown_;
    std::vector<std::string> news_;
    uint64_t resigned_ = 0;  ///< epoch of the term that was given back; 0: none
    bool ends_ = false;
    std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace halcyon::coordinate
