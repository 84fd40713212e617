#include "calls/state/standard_error.hpp"

#include "calls/backends/kept_access.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/held_signals.hpp"

namespace halcyon::calls::standard_error {

namespace {

constexpr int descriptor = 2;

constinit bool known = false;
constinit uint64_t device = 0;
constinit uint64_t inode = 0;

}  // namespace

void remember() {
    struct stat found {};
    known = direct::call(SYS_fstat, descriptor, direct::address(&found)) == 0;
    device = found.st_dev;
    inode = found.st_ino;
}

bool is_meant_for_people() {
    struct stat found {};
    if (direct::call(SYS_fstat, descriptor, direct::address(&found)) != 0) return false;
    if (backends::kept_access(descriptor) >= 0) return false;  // a backend's: this would go past it
    if (known && found.st_dev == device && found.st_ino == inode) return true;
    return S_ISCHR(found.st_mode) || (S_ISREG(found.st_mode) && (direct::flags_of(descriptor) & O_APPEND) != 0);
}

void say(const char* text, int length) {
    if (!is_meant_for_people()) return;
    const held_signals here;
    direct::call(SYS_write, descriptor, direct::address(text), length);
}

}  // namespace halcyon::calls::standard_error
