#include "calls/stacks/loaded_object.hpp"

#include <dlfcn.h>
#include <link.h>

#include <climits>

#include "calls/state/direct_call.hpp"

// Weak: releases of glibc before 2.35 do not have it, and static programs only where something else wants it.
#ifdef DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object
#endif

namespace halcyon::calls {
namespace {

struct search {
    uintptr_t address;
    loaded_object* found;
};

int look_at(dl_phdr_info* object, size_t, void* opaque) {
    const auto& wanted = *static_cast<search*>(opaque);
    loaded_object here{object->dlpi_addr, UINTPTR_MAX, 0, nullptr, object->dlpi_name};
    bool within = false;
    for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        const uintptr_t begin = here.base + part.p_vaddr;
        if (part.p_type == PT_GNU_EH_FRAME) here.frames = reinterpret_cast<const unsigned char*>(begin);
        if (part.p_type != PT_LOAD) continue;
        within = within || wanted.address - begin < part.p_memsz;
        here.begin = begin < here.begin ? begin : here.begin;
        here.end = begin + part.p_memsz > here.end ? begin + part.p_memsz : here.end;
    }
    if (!within) return 0;
    if (here.path == nullptr) here.path = "";
    *wanted.found = here;
    return 1;
}

// Written before anyone asks for it.
constinit char program_name[NAME_MAX] = {};
constinit size_t program_name_length = 0;

std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

bool find_loaded_object(uintptr_t address, loaded_object& found) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    if (&_dl_find_object != nullptr) {
        dl_find_object object{};
        if (_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) return false;
        const link_map* map = object.dlfo_link_map;
        found = {map == nullptr ? 0 : map->l_addr, reinterpret_cast<uintptr_t>(object.dlfo_map_start),
                 reinterpret_cast<uintptr_t>(object.dlfo_map_end),
                 static_cast<const unsigned char*>(object.dlfo_eh_frame),
                 map == nullptr || map->l_name == nullptr ? "" : map->l_name};
        return true;
    }
#endif
    search wanted{address, &found};
    return dl_iterate_phdr(look_at, &wanted) != 0;
}

void remember_program_name() {
    char path[PATH_MAX];
    const long bytes =
        direct::call(SYS_readlinkat, AT_FDCWD, direct::address("/proc/self/exe"), direct::address(path), sizeof path);
    const std::string_view name = bytes <= 0 ? "?" : last_part({path, static_cast<size_t>(bytes)});
    program_name_length = name.size() < sizeof program_name ? name.size() : sizeof program_name;
    std::memcpy(program_name, name.data(), program_name_length);
}

std::string_view base_name_of(const loaded_object& object) {
    return *object.path == '\0' ? std::string_view(program_name, program_name_length) : last_part(object.path);
}

}  // namespace halcyon::calls
