#include "logfs/background/pace.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"

namespace halcyon::logfs {
namespace {

/// A piece may be as large: more than the burst is never left.
constexpr double largest_piece_bytes = 4 << 20;
constexpr double burst_s = 0.1;

void sleep_ns(int64_t ns) {
    timespec left{ns / 1'000'000'000, ns % 1'000'000'000};
    while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

}  // namespace

int64_t rest_behind(int64_t round_ns) {
    constexpr int64_t shortest_ns = 500'000'000;
    constexpr int64_t longest_ns = int64_t{600} * 1'000'000'000;
    constexpr int64_t share = 30;
    return std::clamp(share * std::min(round_ns, longest_ns / share), shortest_ns, longest_ns);
}

pace::pace(turn& turns, double bytes_per_s)
    : turns_(turns),
      limit_{bytes_per_s, std::max(largest_piece_bytes, bytes_per_s * burst_s)},
      bucket_(limit_, monotonic_ns()) {}

void pace::begin(const std::string& directory, int64_t bytes) {
    stay_ = turns_.begin(directory, bytes);
}

/// The limit first: a turn is not kept for a pause.
void pace::next(int64_t bytes) {
    if (limit_.per_s > 0) {
        const double tokens = std::min(static_cast<double>(bytes), limit_.burst);
        for (int64_t now_ns = monotonic_ns(); !bucket_.take(limit_, tokens, now_ns); now_ns = monotonic_ns()) {
            const double missing = tokens - bucket_.tokens(limit_, now_ns);
            sleep_ns(std::max<int64_t>(static_cast<int64_t>(missing / limit_.per_s * 1e9), 1'000'000));
        }
    }
    if (stay_) stay_->next(bytes);
}

}  // namespace halcyon::logfs
