#pragma once

#include <cstddef>

#include "offload/model/model.hpp"

namespace halcyon::offload {

/// How the chunks of a variable are stored.
struct encoding {
    scalar_type type = scalar_type::float32;
    offload::precision precision = precision::full;
    int significant_bits = 0;
    compression method = compression::none;  ///< none, gzip or zstd
    int level = 4;
    bool checksum = false;

    /// What `v` asks for. `idle`: when-idle compression is on. Precision applies to floating point only.
    static encoding of(const variable& v, scalar_type type, bool idle, bool checksum);
    /// The same without compression and checksum.
    static encoding uncompressed(const variable& v, scalar_type type);

    [[nodiscard]] size_t stored_element_bytes() const;
    /// True when the bytes in memory are the bytes in the file.
    [[nodiscard]] bool as_is() const {
        return precision == precision::full && method == compression::none && !checksum;
    }
};

}  // namespace halcyon::offload
