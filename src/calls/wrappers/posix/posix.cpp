// The wrappers of all symbols of table.def that follow a shape.
#include "calls/wrappers/posix/opening_shapes.hpp"
#include "calls/wrappers/posix/range_shapes.hpp"
#include "calls/wrappers/stdio/stdio_shapes.hpp"
#include "calls/wrappers/posix/transfer_shapes.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {

#define ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
#define FUNCTION(id, name, level, kind, argument)
#define WRITTEN(symbol, id)
#define SYMBOL(symbol, id, shape, result, parameters, names)                                                    \
    HALCYON_WRAPPER(symbol, result, parameters);                                                                \
    result halcyon_wrap_##symbol parameters {                                                                   \
        return intercept<shapes::shape, call_id::id>(HALCYON_REAL(symbol, result, parameters) ARGUMENTS names); \
    }
#include "calls/record/table.def"

}  // namespace halcyon::calls
