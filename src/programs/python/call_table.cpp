// The table of recorded functions, of halcyon._core.
#include "programs/python/call_table.hpp"

#include <cstddef>
#include <iterator>

#include "calls/record/call_symbols.hpp"

namespace nb = nanobind;

namespace halcyon::python {
namespace {

nb::tuple symbols_of(calls::call_id function) {
    nb::list names;
    for (const calls::symbol_entry& symbol : calls::symbols) {
        if (symbol.function == function) names.append(nb::str(symbol.name.data(), symbol.name.size()));
    }
    return nb::tuple(names);
}

nb::list call_table() {
    nb::list rows;
    for (size_t i = 1; i < std::size(calls::functions); ++i) {  // 0 stands for no function
        const calls::function_entry& entry = calls::functions[i];
        const auto function = static_cast<calls::call_id>(i);
        rows.append(nb::make_tuple(entry.name, calls::level_names[static_cast<size_t>(entry.at)],
                                   calls::kind_names[static_cast<size_t>(entry.does)], entry.argument,
                                   calls::is_collective(function), symbols_of(function)));
    }
    return rows;
}

nb::tuple words(const char* const* begin, const char* const* end) {
    nb::list all;
    for (; begin != end; ++begin) all.append(*begin);
    return nb::tuple(all);
}

}  // namespace

void add_call_table(nb::module_& m) {
    m.def("call_table", call_table,
          "Every recorded function: name, level, kind, meaning of `argument`, whether it is collective, its symbols.");
    m.attr("CALL_LEVELS") = words(std::begin(calls::level_names), std::end(calls::level_names));
    m.attr("CALL_KINDS") = words(std::begin(calls::kind_names), std::end(calls::kind_names));
}

}  // namespace halcyon::python
