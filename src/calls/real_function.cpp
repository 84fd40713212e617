#include "calls/real_function.hpp"

#include <dlfcn.h>
#include <link.h>

namespace halcyon::calls {
namespace {

struct search {
    const char* symbol;
    void* own_base;
    void* found;
};

// A library's own symbols, whichever scope it was loaded into. RTLD_NOLOAD: only asks for a handle.
int look_into(dl_phdr_info* library, size_t, void* opaque) {
    auto& wanted = *static_cast<search*>(opaque);
    if (library->dlpi_name == nullptr || library->dlpi_name[0] == '\0') return 0;
    if (reinterpret_cast<void*>(library->dlpi_addr) == wanted.own_base) return 0;
    void* handle = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return 0;
    void* found = dlsym(handle, wanted.symbol);
    dlclose(handle);
    Dl_info where{};
    if (found == nullptr || dladdr(found, &where) == 0 || where.dli_fbase == wanted.own_base) return 0;
    wanted.found = found;
    return 1;
}

}  // namespace

void* find_real_version(const char* symbol, const char* version) {
    return dlvsym(RTLD_NEXT, symbol, version);
}

void* find_real_function(const char* symbol) {
    if (void* next = dlsym(RTLD_NEXT, symbol)) return next;
    Dl_info own{};
    dladdr(reinterpret_cast<const void*>(&find_real_function), &own);
    search wanted{symbol, own.dli_fbase, nullptr};
    dl_iterate_phdr(look_into, &wanted);
    return wanted.found;
}

}  // namespace halcyon::calls
