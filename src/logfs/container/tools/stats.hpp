#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/reading/reader.hpp"

namespace halcyon::logfs {

struct container_stats {
    int64_t size = 0;        ///< of the file
    int64_t hole_bytes = 0;  ///< of it
    uint64_t segments = 0;   ///< stretches of it that lie in one piece in a data dropping
    uint64_t writers = 0;
    uint64_t open_writers = 0;
    uint64_t hosts = 0;  ///< clocks, strictly
    uint64_t writes = 0;
    int64_t written_bytes = 0;
    int64_t data_bytes = 0;              ///< of all data droppings
    int64_t data_blocks_bytes = 0;       ///< that they take on the device
    int64_t durable_bytes = 0;           ///< of data that were synced: they are on the container's device
    int64_t staged_bytes = 0;            ///< of data that lie on nodes' disks, and not in the container yet
    std::vector<std::string> staged_on;  ///< these nodes
    int64_t index_bytes = 0;
    uint64_t patterns = 0;  ///< as a reader keeps them
    uint64_t extents = 0;
    uint64_t reader_bytes = 0;  ///< memory of a reader
    /// Of the file, that writers wrote at times that do not say which was last; none of a container of PLFS.
    int64_t conflict_bytes = 0;
    int why_not_given_back = 0;  ///< -errno: dead extents were not, when that was tried last

    /// Of the index to the data written.
    [[nodiscard]] double index_share() const {
        return written_bytes > 0 ? static_cast<double>(index_bytes) / static_cast<double>(written_bytes) : 0;
    }
    /// Of the data on the device to those that are read.
    [[nodiscard]] double space_amplification() const {
        const int64_t read = size - hole_bytes;
        return read > 0 ? static_cast<double>(data_blocks_bytes) / static_cast<double>(read) : 0;
    }
};

/// Figures of a container. Failures as of reader.
result<container_stats> stats(container& what);

/// Bytes of the file that writers wrote at times that do not say which was last: container_stats::conflict_bytes, by
/// the indexes alone. Failures as of reader.
result<int64_t> conflict_bytes(container& what);

/// How many bytes are in conflict.
int64_t bytes_of(std::span<const conflict> found);

/// Calls `visit` for each part of [begin, end) of the file, in order and without a gap, until it returns false. Adds to
/// `conflict_bytes` what reader::conflicts() tells of it.
result<void> map(reader& of, int64_t begin, int64_t end, const std::function<bool(const segment&)>& visit,
                 int64_t* conflict_bytes = nullptr);

}  // namespace halcyon::logfs
