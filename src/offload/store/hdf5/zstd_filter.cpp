#include "offload/store/hdf5/zstd_filter.hpp"

#include <zstd.h>

#include <cstdlib>

#include "offload/store/hdf5/handle.hpp"

namespace halcyon::offload::hdf5 {
namespace {

/// HDF5's filter protocol: replaces *buffer (from malloc) by its result and returns the new length; 0 = failed.
size_t apply(unsigned flags, size_t parameter_count, const unsigned parameters[], size_t length, size_t* capacity,
             void** buffer) {
    const bool reading = (flags & H5Z_FLAG_REVERSE) != 0;
    size_t bound = 0;
    if (reading) {
        const unsigned long long size = ZSTD_getFrameContentSize(*buffer, length);
        if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) return 0;
        bound = static_cast<size_t>(size);
    } else {
        bound = ZSTD_compressBound(length);
    }
    void* out = std::malloc(bound > 0 ? bound : 1);
    if (out == nullptr) return 0;
    const int level = parameter_count > 0 ? static_cast<int>(parameters[0]) : ZSTD_CLEVEL_DEFAULT;
    const size_t done =
        reading ? ZSTD_decompress(out, bound, *buffer, length) : ZSTD_compress(out, bound, *buffer, length, level);
    if (ZSTD_isError(done) != 0 || (!reading && done >= length)) {
        std::free(out);
        return 0;
    }
    std::free(*buffer);
    *buffer = out;
    *capacity = bound;
    return done;
}

}  // namespace

void register_zstd_filter() {
    static const herr_t status = [] {
        H5Z_class2_t filter{};
        filter.version = H5Z_CLASS_T_VERS;
        filter.id = zstd_filter_id;
        filter.encoder_present = 1;
        filter.decoder_present = 1;
        filter.name = "zstd";
        filter.filter = apply;
        return H5Zregister(&filter);
    }();
    check(status, "register the zstd filter");
}

}  // namespace halcyon::offload::hdf5
