// lio_listio, of which there are three versions: the oldest sends no notifications of single requests.
#include "calls/wrappers/transfer_shapes.hpp"
#include "calls/wrappers/versions.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {

#define LIST_PARAMETERS (int mode, struct aiocb* const* list, int count, struct sigevent* event)

#define LIST(symbol)                                                                                              \
    HALCYON_WRAPPER(symbol, int, LIST_PARAMETERS);                                                                \
    int halcyon_wrap_##symbol LIST_PARAMETERS {                                                                   \
        return intercept<shapes::aio_list, call_id::lio_listio>(HALCYON_REAL(symbol, int, LIST_PARAMETERS), mode, \
                                                                list, count, event);                              \
    }

#ifdef HALCYON_OLD_VERSIONS
#define LIST_VERSION(symbol, name, at, version)                                                     \
    HALCYON_VERSION(symbol, int, LIST_PARAMETERS, name, at)                                         \
    int halcyon_##symbol##_##name LIST_PARAMETERS {                                                 \
        return intercept<shapes::aio_list, call_id::lio_listio>(                                    \
            HALCYON_REAL_VERSION(symbol, int, LIST_PARAMETERS, version), mode, list, count, event); \
    }
#define LIST_VERSIONS(symbol)                               \
    LIST_VERSION(symbol, new, "@@GLIBC_2.34", "GLIBC_2.34") \
    LIST_VERSION(symbol, middle, "@GLIBC_2.4", "GLIBC_2.4") \
    LIST_VERSION(symbol, old, "@GLIBC_2.2.5", "GLIBC_2.2.5")
LIST_VERSIONS(lio_listio)
LIST_VERSIONS(lio_listio64)
#else
LIST(lio_listio)
LIST(lio_listio64)
#endif

}  // namespace halcyon::calls
