#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"

namespace halcyon::logfs {

/// Files that are open for reading, so many at a time: the one that was not used for the longest time is closed for the
/// next one.
class open_files {
  public:
    open_files(file_calls& calls, memory_source& memory, uint32_t most)
        : calls_(calls), most_(most < 1 ? 1 : most), files_(memory), places_(memory) {}
    open_files(const open_files&) = delete;
    open_files& operator=(const open_files&) = delete;
    ~open_files() { close_all(); }

    /// The descriptor of the file with this key, which has this name in a directory; it stays open until the next call.
    /// -errno.
    int get(uint64_t key, int directory, const char* name);
    /// Likewise, of one that is open; -1: it is not.
    int find(uint64_t key);
    void close(uint64_t key);
    void close_all();

    [[nodiscard]] size_t size() const { return files_.size(); }
    /// How often one was opened.
    [[nodiscard]] uint64_t opened() const { return opened_; }
    [[nodiscard]] uint32_t most() const { return most_; }

  private:
    static constexpr uint32_t none = UINT32_MAX;

    struct file {
        uint64_t key;
        int fd;
        uint32_t newer;
        uint32_t older;
    };

    [[nodiscard]] size_t place_of(uint64_t key) const;
    void use(uint32_t number);
    void unlink(uint32_t number);
    void forget(uint32_t number);
    int close_oldest();

    file_calls& calls_;
    uint32_t most_;
    page_array<file> files_;
    page_array<uint32_t> places_;  // open addressing; number + 1, 0: free
    uint32_t newest_ = none;
    uint32_t oldest_ = none;
    uint64_t opened_ = 0;
};

}  // namespace halcyon::logfs
