#pragma once

#include "calls/wrappers/operations/operation.hpp"

/// As operation.hpp: what no backend answers.
namespace halcyon::calls::operations {

/// A request that the C library's threads would make, past us.
struct refuse_request {
    template <class Request>
    static bool claims(const Request* request) {
        return given::is_readable(request, sizeof *request) && backends::owner_of(request->aio_fildes);
    }
    template <class Request>
    static int64_t perform(const Request*) {
        return -ENOSYS;
    }
    template <class Request>
    static bool claims(int, const Request* request) {
        return claims(request);
    }
    template <class Request>
    static int64_t perform(int, const Request*) {
        return -ENOSYS;
    }
};

}  // namespace halcyon::calls::operations
