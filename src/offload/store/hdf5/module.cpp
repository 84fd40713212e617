#include <new>

#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/hdf5_store.hpp"
#include "offload/store/hdf5/hdf5_view.hpp"
#include "offload/store/store.hpp"

#define HALCYON_MODULE_EXPORT extern "C" __attribute__((visibility("default")))

HALCYON_MODULE_EXPORT const halcyon::offload::store_interface halcyon_store_interface =
    halcyon::offload::this_store_interface;

HALCYON_MODULE_EXPORT const halcyon::offload::store_traits halcyon_store_traits = halcyon::offload::hdf5::traits;

HALCYON_MODULE_EXPORT halcyon::offload::file_store* halcyon_make_file_store() {
    return new (std::nothrow) halcyon::offload::hdf5::hdf5_store;
}

HALCYON_MODULE_EXPORT halcyon::offload::view_builder* halcyon_make_view_builder(const char* directory,
                                                                                const char* simulation) {
    try {
        return new halcyon::offload::hdf5::hdf5_view(directory, simulation);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
