#include <new>

#include "offload/store/store.hpp"
#include "offload/store/zarr/format.hpp"
#include "offload/store/zarr/zarr_store.hpp"

#define HALCYON_MODULE_EXPORT extern "C" __attribute__((visibility("default")))

HALCYON_MODULE_EXPORT const halcyon::offload::store_interface halcyon_store_interface =
    halcyon::offload::this_store_interface;

HALCYON_MODULE_EXPORT const halcyon::offload::store_traits halcyon_store_traits = halcyon::offload::zarr::traits;

HALCYON_MODULE_EXPORT halcyon::offload::file_store* halcyon_make_file_store() {
    return new (std::nothrow) halcyon::offload::zarr::zarr_store;
}
