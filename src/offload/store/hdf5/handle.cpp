#include "offload/store/hdf5/handle.hpp"

namespace halcyon::offload::hdf5 {
namespace {

herr_t take_first(unsigned position, const H5E_error2_t* entry, void* text) {
    if (position == 0 && entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
    return 0;
}

}  // namespace

std::string last_message() {
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &text);
    return text.empty() ? "HDF5 gave no reason" : text;
}

void throw_failed(const std::string& what) {
    throw error(error_kind::system, what + ": " + last_message());
}

silence::silence() {
    H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

silence::~silence() {
    H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_);
}

}  // namespace halcyon::offload::hdf5
