#pragma once

#include <string_view>

#include "calls/record/call_table.hpp"

namespace halcyon::calls {

/// A name under which programs call a function of call_table.hpp.
struct symbol_entry {
    std::string_view name;
    call_id function;
};

/// In the order of table.def.
inline constexpr symbol_entry symbols[] = {
#define FUNCTION(id, name, level, kind, argument)
#define SYMBOL(symbol, id, shape, operation, result, parameters, names) {#symbol, call_id::id},
#define WRITTEN(symbol, id) {#symbol, call_id::id},
#include "calls/record/table.def"
#undef FUNCTION
#undef SYMBOL
#undef WRITTEN
};

}  // namespace halcyon::calls
