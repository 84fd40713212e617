#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace halcyon::offload::hdf5 {

/// A file on its way: written under a temporary name, published by rename, removed when it is given up.
///
/// HDF5 cannot be asked to drop a file whose disk is full: its close fails, half-open files stay in its tables and
/// the process may never write again. So this file takes every write of the library: it keeps the first error to
/// itself, ignores what follows, and HDF5 closes in peace. Metadata stays in memory until publish(), so that
/// reading it back works after an error too, and because one sequential write is faster than hundreds of small ones.
class output_file {
  public:
    /// Creates `temporary`; one that a killed process left there is replaced. Throws (system).
    explicit output_file(std::string temporary);
    ~output_file();
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    /// Starts writing back to the device at once; for files that will be synced.
    void write_back_early(bool yes) { early_ = yes; }

    /// publish() has the file system set the whole size aside, so that a full disk shows then and not later.
    void reserve_room() { reserve_ = true; }

    /// Writes what is kept in memory, cuts the file to its size, syncs when asked (file, then directory) and renames
    /// it to `path`. Throws the first error of the file's life, path and errno text in it. Returns the size in bytes.
    int64_t publish(const std::string& path, bool sync);

    /// The first write error, if there was one.
    void throw_if_failed() const;

    /// Forgets everything that was written, an error too: the contents begin anew. Throws (system).
    void begin_again();

    /// Of the next write_data() of these very bytes only the place is noted: put_held() writes them, and until then
    /// they stay as they are.
    void hold(std::span<const std::byte> bytes) { awaited_ = bytes; }
    void put_held() noexcept;

    // For the driver; none of these throws.
    void write_data(uint64_t address, std::span<const std::byte> bytes) noexcept;
    void write_metadata(uint64_t address, std::span<const std::byte> bytes) noexcept;
    void read(uint64_t address, std::span<std::byte> bytes) noexcept;
    void end_at(uint64_t size) noexcept { size_ = size; }
    [[nodiscard]] uint64_t written_end() const noexcept { return written_end_; }

    /// Pieces of the file by address; they neither overlap nor touch.
    using pieces = std::map<uint64_t, std::vector<std::byte>>;
    /// The metadata, which publish() will write.
    [[nodiscard]] const pieces& metadata() const { return metadata_; }
    struct extent {
        uint64_t address = 0;
        size_t bytes = 0;
        friend bool operator==(const extent&, const extent&) = default;
    };
    /// Where the data went, a piece for each write_data(), in order.
    [[nodiscard]] const std::vector<extent>& data() const { return data_; }
    [[nodiscard]] uint64_t size() const { return size_; }

  private:
    void fail(const char* doing, uint64_t address, size_t bytes, int saved_errno) noexcept;
    void put(uint64_t address, std::span<const std::byte> bytes) noexcept;
    void write_back(uint64_t begin, uint64_t end) noexcept;
    void forget(uint64_t address, uint64_t end);

    std::string temporary_;
    int descriptor_ = -1;
    bool published_ = false;
    bool early_ = false;
    bool reserve_ = false;
    bool failed_ = false;
    failure first_;
    uint64_t size_ = 0;
    uint64_t written_end_ = 0;
    uint64_t unsynced_begin_ = 0;  ///< of what write_back_early() has not asked the kernel to write yet
    uint64_t unsynced_end_ = 0;
    pieces metadata_;
    std::vector<extent> data_;
    struct held_bytes {
        uint64_t address = 0;
        std::span<const std::byte> bytes;
    };
    std::span<const std::byte> awaited_;  ///< of hold(), until they come
    std::vector<held_bytes> held_;
};

}  // namespace halcyon::offload::hdf5
