#pragma once

#include <cstddef>

#include "calls/record/call_record.hpp"

namespace halcyon::calls {

/// The functions of table.def, in its order. Numbers are of one build: traces carry the names.
enum class call_id : uint16_t {
    unknown,
#define FUNCTION(id, name, level, kind, argument) id,
#define SYMBOL(symbol, id, shape, operation, result, parameters, names)
#define WRITTEN(symbol, id)
#include "calls/record/table.def"
#undef FUNCTION
    count
};

/// What is told about a function besides its calls.
struct function_entry {
    const char* name;  ///< as in its manual
    level at;
    kind does;
    const char* argument;  ///< what call_record::argument holds; "": nothing
};

inline constexpr function_entry functions[] = {
    {"?", level::posix, kind::control, ""},
#define FUNCTION(id, name, level_, kind_, argument) {name, level::level_, kind::kind_, argument},
#include "calls/record/table.def"
#undef FUNCTION
#undef SYMBOL
#undef WRITTEN
};
static_assert(sizeof functions / sizeof functions[0] == static_cast<size_t>(call_id::count));

inline constexpr const function_entry& entry_of(uint16_t function) {
    return functions[function < static_cast<uint16_t>(call_id::count) ? function : 0];
}

/// Who makes a call on a file of MPI-IO.
enum class callers : uint8_t { alone, together };

/// Whether all processes that opened a file make the call: collective, as MPI says.
inline constexpr bool is_collective(call_id function) {
    switch (function) {
#define FUNCTION(id, name, level, kind, argument)
#define SYMBOL(symbol, id, shape, operation, result, parameters, names)
#define WRITTEN(symbol, id)
#define CALLERS(id, callers_) \
    case call_id::id:         \
        return callers::callers_ == callers::together;
#include "calls/record/table.def"
#undef FUNCTION
#undef SYMBOL
#undef WRITTEN
        default:
            return false;
    }
}

}  // namespace halcyon::calls
