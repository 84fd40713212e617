#include "calls/wrappers/hdf5/hdf5_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>

#include "calls/state/blocked_signals.hpp"
#include "calls/state/known_files.hpp"
#include "calls/state/patience.hpp"

namespace halcyon::calls::hdf5 {
namespace {

constinit library libraries[most_libraries]{};
constinit std::atomic<uint32_t> library_count{0};
constinit std::atomic<uint32_t> adding{0};
constinit std::atomic<uint32_t> waits_in_vain{0};

void tell(library& in) {
    unsigned version[3] = {};
    if (in.H5get_libversion == nullptr || in.H5get_libversion(&version[0], &version[1], &version[2]) < 0) return;
    in.has_wide_ids = version[0] > 1 || version[1] >= 10;
    char text[48];
    snprintf(text, sizeof text, "%u.%u.%u%s", version[0], version[1], version[2],
             in.H5Pget_dxpl_mpio != nullptr ? ", parallel" : "");
    this_process().layers.each([&](layer& l) { l.on_fact(0, "hdf5.version", text); });
    if (in.has_wide_ids) return;
    this_process().layers.each([](layer& l) { l.on_absence("calls of HDF5 before 1.10", 1); });
}

#ifdef HALCYON_STATIC_IO
void ask_linked(library& in) {
#define HALCYON_HDF5_LINKED(symbol, result, parameters) in.symbol = HALCYON_FOREIGN(symbol, result, parameters);
    HALCYON_HDF5_QUESTIONS(HALCYON_HDF5_LINKED)
#undef HALCYON_HDF5_LINKED
}
#else
void* load(const char* name) {
    return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

void ask_loaded(library& in) {
#define HALCYON_HDF5_LOADED(symbol, result, parameters) \
    in.symbol = reinterpret_cast<result(*) parameters>(dlsym(in.handle, #symbol));
    HALCYON_HDF5_QUESTIONS(HALCYON_HDF5_LOADED)
#undef HALCYON_HDF5_LOADED
}

/// The H5open that code at `address` would reach: nobody stands in front of that function. A program's own calls go
/// through the global scope; a library's through what it was linked with, wherever it was loaded to.
void* entry_reached_from(const void* address) {
    Dl_info caller{};
    link_map* map = nullptr;
    if (dladdr1(address, &caller, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr &&
        map->l_name != nullptr && map->l_name[0] != '\0') {
        if (void* scope = load(map->l_name)) {
            void* found = dlsym(scope, "H5open");
            dlclose(scope);
            if (found != nullptr) return found;
        }
    }
    if (void* found = dlsym(RTLD_DEFAULT, "H5open")) return found;
    return find_real_function("H5open");
}
#endif

library* known(const void* base) {
    for (uint32_t i = 0; i < library_count.load(std::memory_order_acquire); ++i) {
        if (libraries[i].base == base) return &libraries[i];
    }
    return nullptr;
}

/// What a process holds it has its number in: in a forked child the thread is not there that would let go of it. False
/// when another thread holds it for too long.
bool lock_adding() {
    const uint32_t own = this_process().generation + 1;
    patience wait(waits_in_vain);
    for (uint32_t held = 0; !adding.compare_exchange_strong(held, own, std::memory_order_acquire);) {
        if (held != own) continue;
        if (!wait.wait()) return false;
        held = 0;
    }
    return true;
}

/// Null where there is none, no room for one more, or a thread that was stopped keeps this one from adding it.
library* find_library([[maybe_unused]] const void* return_address) {
    recording();  // so that there is somebody to tell of it
    const own_work ours;
#ifdef HALCYON_STATIC_IO
    void* const base = &libraries;
#else
    const void* entry = entry_reached_from(return_address);
    Dl_info where{};
    if (entry == nullptr || dladdr(entry, &where) == 0) return nullptr;
    void* const base = where.dli_fbase;
#endif
    if (library* present = known(base)) return present;
    const blocked_signals whole;
    if (!lock_adding()) return nullptr;
    library* added = known(base);
    const uint32_t index = library_count.load(std::memory_order_relaxed);
    if (added == nullptr && index < most_libraries) {
        added = &libraries[index];
        added->index = index;
        added->base = base;
#ifdef HALCYON_STATIC_IO
        ask_linked(*added);
#else
        added->handle = load(where.dli_fname);
        ask_loaded(*added);
#endif
        tell(*added);
        library_count.store(index + 1, std::memory_order_release);
    }
    adding.store(0, std::memory_order_release);
    return added;
}

// Places that call, with the number of the library that they mean: an address of user space has 56 bits at most.
constexpr size_t place_count = 4096;
constinit std::atomic<uint64_t> places[place_count]{};

}  // namespace

library* library_of(const void* return_address) {
    const auto address = reinterpret_cast<uintptr_t>(return_address);
    std::atomic<uint64_t>& place = places[(address ^ address >> 12) % place_count];
    const uint64_t held = place.load(std::memory_order_relaxed);
    if (held >> 8 == address) [[likely]]
        return &libraries[held & 0xFF];
    library* found = find_library(return_address);
    if (found != nullptr) place.store(address << 8 | found->index, std::memory_order_relaxed);
    return found;
}

#ifndef HALCYON_STATIC_IO
void* real_function_of(library& in, void* (&found)[most_libraries], const char* symbol) {
    void*& slot = found[in.index];
    if (slot == nullptr) [[unlikely]]
        slot = dlsym(in.handle, symbol);
    return slot;
}

void* function_called_from(const void* return_address, const char* symbol) {
    recording();
    const own_work ours;
    Dl_info where{};
    const void* entry = entry_reached_from(return_address);
    if (entry == nullptr || dladdr(entry, &where) == 0) return nullptr;
    void* const handle = load(where.dli_fname);
    if (handle == nullptr) return nullptr;
    void* const found = dlsym(handle, symbol);
    dlclose(handle);
    if (found != nullptr)
        this_process().layers.each([](layer& l) { l.on_absence("calls of HDF5 libraries that are not known", 1); });
    return found;
}
#endif

void remember(library& in, int64_t id, uint32_t file) {
    if (id > 0 && file != known_files::unknown) in.files.add(static_cast<uint64_t>(id), {file, 0});
}

void forget(library& in, int64_t id) {
    in.files.remove(static_cast<uint64_t>(id));
}

uint32_t file_of(library& in, int64_t id) {
    handle_table<8192>::words held{};
    if (in.files.find(static_cast<uint64_t>(id), held)) return static_cast<uint32_t>(held.first);
    if (in.H5Iget_type == nullptr || in.H5Fget_name == nullptr) return known_files::unknown;
    const own_work ours;
    // Files, groups, datasets and attributes; others have no file, and HDF5 complains on standard error when asked for
    // it.
    const int type = in.H5Iget_type(id);
    if (type != 1 && type != 2 && type != 5 && type != 6) return known_files::unknown;
    char path[4096];
    if (in.H5Fget_name(id, path, sizeof path) <= 0) return known_files::unknown;
    const uint32_t file = known_files::of_opened_path(path);
    remember(in, id, file);
    return file;
}

}  // namespace halcyon::calls::hdf5
