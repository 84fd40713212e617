#include "offload/store/hdf5/library_use.hpp"

namespace halcyon::offload::hdf5 {

std::recursive_mutex& library_lock() {
    static std::recursive_mutex one;
    return one;
}

}  // namespace halcyon::offload::hdf5
