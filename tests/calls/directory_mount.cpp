// For libhalcyon-io: the files of $HALCYON_DIRECTORY_BEHIND lie under $HALCYON_DIRECTORY_MOUNT. What the backend is
// told of processes goes to the file $HALCYON_DIRECTORY_HOOKS, a letter each.
#include <cstdlib>

#include "calls/backends/mounts.hpp"
#include "calls/directory_backend/directory_backend.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls {
namespace {

class told_backend final : public directory_backend {
  public:
    using directory_backend::directory_backend;
    void before_fork() override { note("f"); }
    void before_exec() override { note("e"); }

  private:
    static void note(const char* letter) {
        const char* const path = getenv("HALCYON_DIRECTORY_HOOKS");
        if (path == nullptr) return;
        const int fd = direct::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        direct::call(SYS_write, fd, direct::address(letter), 1);
        direct::close(fd);
    }
};

}  // namespace

void backends::start_backends() {
    const char* const behind = getenv("HALCYON_DIRECTORY_BEHIND");
    const char* const prefix = getenv("HALCYON_DIRECTORY_MOUNT");
    if (behind == nullptr || prefix == nullptr) return;
    static told_backend& files = *new told_backend(behind);  // streams are written when all destructors have run
    if (!mount(files, prefix)) abort();
}

}  // namespace halcyon::calls
