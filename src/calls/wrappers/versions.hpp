#pragma once

#include <spawn.h>

#include "calls/wrappers/wrapper.hpp"

struct aiocb;
struct sigevent;

/// The wrappers' bodies of symbols of which the C library keeps old versions, with their old behaviour: each wrapper
/// (versions.cpp) hands in the C library's function of its own version as `real`.
namespace halcyon::calls::versioned {

#define FUNCTION(id, name, level, kind, argument)
#define SYMBOL(symbol, id, shape, operation, result, parameters, names)
#define WRITTEN(symbol, id)
#define WITHOUT_PARENTHESES(...) __VA_ARGS__
#define VERSION(symbol, age, version, result, parameters, names) \
    result symbol(result(*real) parameters, WITHOUT_PARENTHESES parameters);
#include "calls/record/table.def"
#undef FUNCTION
#undef SYMBOL
#undef WRITTEN

}  // namespace halcyon::calls::versioned
