#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace halcyon::coordinate {

/// Whence a daemon gets the epoch of its fencing numbers. Each must be above all that any coordinator of the same file
/// system had before: clients refuse grants with a lower fencing number than one that they have seen.
///
/// Where several daemons are elected, etcd keeps the epochs.
class epoch_source {
  public:
    struct epoch {
        uint64_t number = 0;  ///< below 2^32
        std::string warning;  ///< for the log; mostly empty
    };

    epoch_source() = default;
    epoch_source(const epoch_source&) = delete;
    epoch_source& operator=(const epoch_source&) = delete;
    virtual ~epoch_source() = default;
    virtual result<epoch> next() = 0;
};

/// Quarters of a second since 2025 by the machine's clock; at least 1.
uint64_t epoch_by_clock();

/// Epochs of a single daemon: quarters of a second since 2025 by the machine's clock, or one more than the file says
/// where that is more. They last until 2059.
///
/// Where the clock gives the number, or is about to, next() waits for the next quarter to begin, so that no two starts
/// have the same epoch: also with a file, which may be lost, or emptied by a power loss, between the two. A clock that
/// was set back gives an epoch that clients refuse: they do their I/O unasked, as without a coordinator, until the
/// clock has caught up or the daemon gets a file; nobody is ever granted what another has. With a file that holds even
/// then, and without the file's last contents the clock alone is enough.
class own_epochs : public epoch_source {
  public:
    /// `file`: empty for none. `latest`: that this process had already.
    explicit own_epochs(std::string file, uint64_t latest = 0) : file_(std::move(file)), latest_(latest) {}

    /// Failure (config): the file holds something else than a number. System: it cannot be read; or it cannot be
    /// written, and the clock is not above the last epoch: no daemon is better than one whose grants are refused. An
    /// empty file, and one that cannot be written otherwise, are a warning: the daemon must start after a power loss,
    /// and on a full disk.
    result<epoch> next() override;

  private:
    [[nodiscard]] result<uint64_t> stored(std::string& warning) const;

    std::string file_;
    uint64_t latest_;
};

}  // namespace halcyon::coordinate
