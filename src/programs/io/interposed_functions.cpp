// Prints the table of interposed functions: for the linker, for tests, and for the reference.
//
//   halcyon-interposed-functions symbols    what libhalcyon-io stands in front of, one a line
//   halcyon-interposed-functions linker     options for programs that are linked with libhalcyon-io.a
//   halcyon-interposed-functions page       the reference's page
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "calls/record/call_symbols.hpp"

namespace halcyon::calls {
namespace {

/// Functions that the C library's headers put in place of others in optimised programs, those of older releases among
/// them.
bool is_called_by_headers(std::string_view symbol) {
    constexpr std::string_view all[] = {"__getdelim",   "__uflow",     "__underflow", "__overflow", "__wuflow",
                                        "__wunderflow", "__woverflow", "_IO_getc",    "_IO_putc"};
    return std::find(std::begin(all), std::end(all), symbol) != std::end(all);
}

/// Names by which the C library alone calls its own functions. In a static program those calls pass the linker's eye,
/// too, and a stream's transfer would be seen twice: as what the stream did, and as the call that it made for it.
bool is_inner_name(std::string_view symbol) {
    if (is_called_by_headers(symbol)) return false;
    if (symbol.starts_with("_IO_")) return true;
    if (!symbol.starts_with("__")) return false;
    const bool is_checked = symbol.ends_with("_chk") || symbol.ends_with("_2");
    const bool is_versioned = symbol.starts_with("__isoc") || symbol.starts_with("__x") || symbol.starts_with("__lx") ||
                              symbol.starts_with("__fx");
    return !is_checked && !is_versioned;
}

/// Functions that static programs keep. Applications have functions of their own by such names (error, warn), which
/// --wrap would take; and of each use of gets the linker warns.
bool is_kept(call_id function) {
    return function == call_id::warn || function == call_id::err || function == call_id::error ||
           function == call_id::gets;
}

void print_symbols() {
    for (const symbol_entry& symbol : symbols)
        printf("%.*s\n", static_cast<int>(symbol.name.size()), symbol.name.data());
}

void print_linker_options() {
    for (const symbol_entry& symbol : symbols) {
        if (is_inner_name(symbol.name) || is_kept(symbol.function)) continue;
        printf("--wrap=%.*s\n", static_cast<int>(symbol.name.size()), symbol.name.data());
    }
    // The index of unwind tables, which compilers ask for only where programs are linked with shared libraries.
    printf("--gc-sections\n--eh-frame-hdr\n");
    // What libhalcyon looks for by its name.
    for (const char* name : {"halcyon_io_forecast", "halcyon_io_job"})
        printf("--undefined=%s\n--export-dynamic-symbol=%s\n", name, name);
}

std::string symbols_of(call_id function, std::string_view name) {
    std::string text;
    for (const symbol_entry& symbol : symbols) {
        if (symbol.function != function || symbol.name == name) continue;
        text += (text.empty() ? "`" : ", `") + std::string(symbol.name) + "`";
    }
    return text;
}

void print_level(level at, const char* title) {
    printf("\n## %s\n\n| function | kind | `argument` | other names |\n|---|---|---|---|\n", title);
    for (size_t i = 1; i < sizeof functions / sizeof functions[0]; ++i) {
        const function_entry& entry = functions[i];
        if (entry.at != at) continue;
        const auto function = static_cast<call_id>(i);
        printf("| `%s` | %s%s | %s | %s |\n", entry.name, kind_names[static_cast<int>(entry.does)],
               is_collective(function) ? ", collective" : "", entry.argument, symbols_of(function, entry.name).c_str());
    }
}

void print_page() {
    printf(
        "# Recorded functions\n\n"
        "What `halcyon run --trace` records of an application, level by level. *kind* is what a call does whatever "
        "its\n"
        "name, and `argument` the column of that name in the table of calls. *Collective* calls of MPI-IO are made by\n"
        "all processes that opened the file. A function has other names for files of 64 bits, for programs built with\n"
        "checks of their buffers, and for Fortran. Programs call none of the last level: these are the system calls "
        "by\n"
        "which logs (`halcyon run --log`) answer calls of the levels above.\n");
    print_level(level::hdf5, "HDF5");
    print_level(level::mpiio, "MPI-IO");
    print_level(level::stdio, "Streams of C");
    print_level(level::posix, "POSIX");
    print_level(level::log, "Logs");
}

}  // namespace
}  // namespace halcyon::calls

int main(int count, char** arguments) {
    using namespace halcyon::calls;
    const std::string_view what = count == 2 ? arguments[1] : "";
    if (what == "symbols")
        print_symbols();
    else if (what == "linker")
        print_linker_options();
    else if (what == "page")
        print_page();
    else {
        fprintf(stderr, "halcyon-interposed-functions: usage: give one of: symbols, linker, page\n");
        return 2;
    }
    return 0;
}
