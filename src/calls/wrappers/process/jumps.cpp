// longjmp and its like: the calls that a jump leaves never return.
#include <setjmp.h>

#include "calls/backends/mounts.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {

#define JUMP(symbol)                                            \
    HALCYON_WRAPPER(symbol, void, (void* place, int value));    \
    void halcyon_wrap_##symbol(void* place, int value) {        \
        backends::calls_left();                                 \
        leave_calls();                                          \
        HALCYON_REAL(symbol, void, (void*, int))(place, value); \
        __builtin_unreachable();                                \
    }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

}  // namespace halcyon::calls
