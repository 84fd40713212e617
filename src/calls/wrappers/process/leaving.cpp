// setuid and its like, and chroot: a process that gives up its user or its root directory may not reach the run's
// folder afterwards. It begins its recording before, and what it starts then is told in that (process.cpp).
#include <unistd.h>

#include "calls/state/known_files.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {

#define LEAVE(symbol, parameters, names)                    \
    HALCYON_WRAPPER(symbol, int, parameters);               \
    int halcyon_wrap_##symbol parameters {                  \
        recording();                                        \
        return HALCYON_REAL(symbol, int, parameters) names; \
    }
LEAVE(setuid, (uid_t user), (user))
LEAVE(seteuid, (uid_t user), (user))
LEAVE(setreuid, (uid_t real, uid_t effective), (real, effective))
LEAVE(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
LEAVE(setgid, (gid_t group), (group))
LEAVE(setegid, (gid_t group), (group))
LEAVE(setregid, (gid_t real, gid_t effective), (real, effective))
LEAVE(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))

// What the working directory is called depends on the root.
HALCYON_WRAPPER(chroot, int, (const char* path));
int halcyon_wrap_chroot(const char* path) {
    recording();
    const int result = HALCYON_REAL(chroot, int, (const char*))(path);
    known_files::forget_directory();
    return result;
}

}  // namespace halcyon::calls
