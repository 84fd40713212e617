#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "coordinate/election/http_client.hpp"

namespace halcyon::coordinate {

/// What an election needs of etcd, by its JSON gateway (etcd 3.4 and later). Two keys below a prefix: `leader` belongs
/// to a lease of the daemon that leads, and is gone when that ends; `epoch` is the number of its term, and stays.
///
/// Each call asks one server after the other until one answers, beginning with the one that answered last, and waits
/// for `most_ns` at most for each. Failure (unavailable): none answers, or with something else.
class etcd_client {
  public:
    /// `prefix`: of both keys, without a slash at its end.
    etcd_client(http_client http, std::vector<std::string> servers, std::string prefix, int64_t most_ns)
        : http_(std::move(http)), servers_(std::move(servers)), prefix_(std::move(prefix)), most_ns_(most_ns) {}

    struct lease {
        int64_t id = 0;
        int64_t lasts_s = 0;  ///< etcd may give more than was asked for
    };
    result<lease> begin_lease(int64_t lasts_s);
    /// How long it lasts from now on, as etcd counts. 0: it is over.
    result<int64_t> renew(const lease& one);
    result<void> end(const lease& one);

    struct leadership {
        std::optional<std::string> leader;  ///< what it said of itself
        uint64_t epoch = 0;                 ///< of the latest term; 0: there was none
        int64_t epoch_revision = 0;         ///< at which it was written
    };
    result<leadership> look();
    /// Becomes the leader for as long as the lease lasts, in one transaction with the new epoch. False: somebody else
    /// was quicker, so that `seen` is true no more.
    result<bool> take(const leadership& seen, const lease& by, const std::string& leader, uint64_t epoch);

  private:
    result<std::string> post(const char* path, const std::string& body);

    http_client http_;
    std::vector<std::string> servers_;
    std::string prefix_;
    int64_t most_ns_;
    size_t answered_ = 0;  ///< server that did last
};

}  // namespace halcyon::coordinate
