#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/log_file.hpp"

namespace halcyon::logfs::api {

/// A container that a handle stands for, with the texts that it was opened with.
struct opened_file {
    explicit opened_file(file_calls& calls) : file(calls) {}

    std::string stage;
    std::string backends;
    log_file file;
};

/// The handles of this process, from 1 on. A handle is never given twice: what was closed, or never was one, is found
/// in no place.
///
/// A place is one handle's after the other. A call announces itself in `uses` and then looks whether the place still
/// has its handle; close() takes the handle out and then waits until nobody has announced himself. All of these are
/// sequentially consistent, so one of both sees the other. Places are made under the lock, which also keeps `file`;
/// none is ever freed.
///
/// Around a fork the lock is held, and each file that is open: no other thread is in the middle of something. In the
/// child all places are dead, their files forgotten.
class open_handles {
  public:
    static open_handles& of_process();

    /// Failure (system): there are too many.
    result<uint64_t> add(std::unique_ptr<opened_file> file);

    /// The use of a handle's file by one call.
    class use {
      public:
        use() = default;
        ~use();
        use(const use&) = delete;
        use& operator=(const use&) = delete;
        [[nodiscard]] log_file& file() const;

      private:
        friend class open_handles;
        void* in_ = nullptr;
    };
    /// Failure (usage): it is not open, or its file is the parent's. `call`: in whose name.
    result<void> begin(use& made, const char* call, uint64_t handle);
    /// Waits for the uses of it to end. Failure: usage, as begin(); of closing the file, which is closed then.
    result<void> close(const char* call, uint64_t handle, bool& is_closed);

  private:
    struct place {
        std::atomic<uint64_t> handle{0};  ///< 0: none
        std::atomic<uint32_t> uses{0};
        std::atomic<uint64_t> of_parent{0};  ///< the handle that it had when this process was forked off
        uint64_t next_handle = 0;
        std::unique_ptr<opened_file> file;
    };
    static constexpr uint64_t in_chunk = 64;
    static constexpr uint64_t most_chunks = 16384;
    static constexpr uint64_t most_places = in_chunk * most_chunks;

    open_handles();
    place* place_of(uint64_t handle);
    place* free_place();
    failure no_handle(const char* call, uint64_t handle);
    static void end(place& at);
    void hold();
    void let_go();
    void forget();
    template <class Work>
    void each_open(Work work);

    std::mutex mutex_;
    uint64_t made_ = 0;
    std::vector<place*> free_;
    std::array<std::atomic<place*>, most_chunks> chunks_{};
};

}  // namespace halcyon::logfs::api
