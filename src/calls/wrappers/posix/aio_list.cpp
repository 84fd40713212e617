// lio_listio, of which there are three versions: the oldest sends no notifications of single requests.
#include "calls/wrappers/posix/transfer_shapes.hpp"
#include "calls/wrappers/versions.hpp"

namespace halcyon::calls::versioned {
namespace {
using list_function = int(int, aiocb* const*, int, sigevent*);
}

int lio_listio(list_function* real, int mode, aiocb* const* list, int count, sigevent* event) {
    return intercept<shapes::aio_list, call_id::lio_listio>(real, mode, list, count, event);
}

int lio_listio64(list_function* real, int mode, aiocb* const* list, int count, sigevent* event) {
    return intercept<shapes::aio_list, call_id::lio_listio>(real, mode, list, count, event);
}

}  // namespace halcyon::calls::versioned
