#include "offload/store/contents/encoding.hpp"

#include <zstd.h>

#include <algorithm>

#include "offload/store/contents/fill_value.hpp"

namespace halcyon::offload {

encoding encoding::of(const variable& v, scalar_type type, bool idle, bool checksum) {
    encoding how;
    how.type = type;
    if (is_floating(type)) {
        how.precision = v.precision;
        how.significant_bits = v.significant_bits;
    }
    how.method = v.compression;
    if (v.compression == compression::when_idle) how.method = idle ? compression::gzip : compression::none;
    how.level = how.method == compression::gzip ? std::clamp(v.compression_level, 1, 9)
                                                : std::clamp(v.compression_level, 1, ZSTD_maxCLevel());
    how.checksum = checksum;
    return how;
}

encoding encoding::uncompressed(const variable& v, scalar_type type) {
    encoding how = of(v, type, false, false);
    how.method = compression::none;
    return how;
}

size_t encoding::stored_element_bytes() const {
    return precision == precision::half ? 2 : static_cast<size_t>(size_of(type));
}

}  // namespace halcyon::offload
