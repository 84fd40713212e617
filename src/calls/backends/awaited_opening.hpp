#pragma once

#include <cstring>

#include "calls/backends/file_backend.hpp"

namespace halcyon::calls::backends {

/// Which file a library opens on the way, in a call of the application that names it: the last one of this path that
/// this thread opened for writing since the object was made. One per thread counts, the innermost.
class awaited_opening {
  public:
    awaited_opening(const file_backend& of, const char* path) : of_(of), path_(path), outer_(innermost) {
        innermost = this;
    }
    ~awaited_opening() { innermost = outer_; }
    awaited_opening(const awaited_opening&) = delete;
    awaited_opening& operator=(const awaited_opening&) = delete;

    /// 0: there was none. It may be closed by now.
    [[nodiscard]] file_backend::handle opened() const { return opened_; }

    /// For what opens files.
    static void note(const file_backend& of, const char* path, int flags, file_backend::handle opened) {
        awaited_opening* const waits = innermost;
        if (waits == nullptr) [[likely]]
            return;
        if ((flags & O_ACCMODE) == O_RDONLY || &of != &waits->of_ || std::strcmp(path, waits->path_) != 0) return;
        waits->opened_ = opened;
    }

  private:
    static inline constinit thread_local awaited_opening* innermost __attribute__((tls_model("initial-exec"))) =
        nullptr;

    const file_backend& of_;
    const char* path_;
    awaited_opening* outer_;
    file_backend::handle opened_ = 0;
};

}  // namespace halcyon::calls::backends
