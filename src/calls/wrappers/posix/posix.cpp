// The wrappers of all symbols of table.def that follow a shape.
#include "calls/wrappers/operations/descriptors.hpp"
#include "calls/wrappers/operations/names.hpp"
#include "calls/wrappers/operations/opening.hpp"
#include "calls/wrappers/operations/streams.hpp"
#include "calls/wrappers/operations/transfers.hpp"
#include "calls/wrappers/operations/unanswered.hpp"
#include "calls/wrappers/posix/opening_shapes.hpp"
#include "calls/wrappers/posix/range_shapes.hpp"
#include "calls/wrappers/posix/transfer_shapes.hpp"
#include "calls/wrappers/stdio/stdio_shapes.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {

#define ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
#define FUNCTION(id, name, level, kind, argument)
#define WRITTEN(symbol, id)
#define SYMBOL(symbol, id, shape, operation, result, parameters, names)                                              \
    HALCYON_WRAPPER(symbol, result, parameters);                                                                     \
    result halcyon_wrap_##symbol parameters {                                                                        \
        return intercept<shapes::shape, call_id::id, operations::operation>(HALCYON_REAL(symbol, result, parameters) \
                                                                                ARGUMENTS names);                    \
    }
#include "calls/record/table.def"

}  // namespace halcyon::calls
