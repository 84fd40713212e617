// dlclose: what is known of an address ends with the object that it lies in.
#include <dlfcn.h>
#include <link.h>

#include "calls/stacks/call_stack.hpp"
#include "calls/stacks/loaded_object.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

/// An address within the object; 0: not known.
uintptr_t address_in([[maybe_unused]] void* handle) {
#ifdef HALCYON_STATIC_IO
    return 0;
#else
    link_map* map = nullptr;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? reinterpret_cast<uintptr_t>(map->l_ld) : 0;
#endif
}

}  // namespace

HALCYON_WRAPPER(dlclose, int, (void* handle));
int halcyon_wrap_dlclose(void* handle) {
    const uintptr_t within = handle == nullptr ? 0 : address_in(handle);
    const int result = HALCYON_REAL(dlclose, int, (void*))(handle);
    loaded_object object{};
    const bool stays = within != 0 && find_loaded_object(within, object);  // others have it open, too
    if (result == 0 && !stays) {
#ifndef HALCYON_STATIC_IO
        library_symbol::forget_unloaded();
#endif
        forget_frame_rules();
    }
    return result;
}

}  // namespace halcyon::calls
