// The wrappers of symbols with versions. One without a version would serve old programs, too, and call the new function
// for them; so these have the C library's versions, and each calls its own. Only x86-64 is old enough, and only shared
// libraries have versions: elsewhere the newest is the only one.
#include "calls/wrappers/versions.hpp"

namespace halcyon::calls {

#define FUNCTION(id, name, level, kind, argument)
#define SYMBOL(symbol, id, shape, operation, result, parameters, names)
#define WRITTEN(symbol, id)
// NOLINTBEGIN(bugprone-macro-parentheses): `result` is a type
#if defined(__x86_64__) && !defined(HALCYON_STATIC_IO)
#define AT_newest "@@"
#define AT_older "@"
#define AT_oldest "@"
#define VERSION(symbol, age, version, result, parameters, names)                                            \
    extern "C" __attribute__((visibility("default")))                                                       \
    result halcyon_##age##_##symbol parameters __asm__("halcyon_" #age "_" #symbol);                        \
    __asm__(".symver halcyon_" #age "_" #symbol ", " #symbol AT_##age version);                             \
    result halcyon_##age##_##symbol parameters {                                                            \
        static void* found = nullptr;                                                                       \
        if (found == nullptr) found = find_real_version(#symbol, version);                                  \
        return versioned::symbol(reinterpret_cast<result(*) parameters>(found), WITHOUT_PARENTHESES names); \
    }
#else
#define ONLY_newest(symbol, result, parameters, names)                                                 \
    HALCYON_WRAPPER(symbol, result, parameters);                                                       \
    result halcyon_wrap_##symbol parameters {                                                          \
        return versioned::symbol(HALCYON_REAL(symbol, result, parameters), WITHOUT_PARENTHESES names); \
    }
#define ONLY_older(symbol, result, parameters, names)
#define ONLY_oldest(symbol, result, parameters, names)
#define VERSION(symbol, age, version, result, parameters, names) ONLY_##age(symbol, result, parameters, names)
#endif
// NOLINTEND(bugprone-macro-parentheses)
#include "calls/record/table.def"

}  // namespace halcyon::calls
