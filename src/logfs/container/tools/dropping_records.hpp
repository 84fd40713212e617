#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/format/format.hpp"
#include "logfs/container/format/record_coding.hpp"
#include "logfs/container/reading/dropping.hpp"
#include "logfs/container/reading/index_scan.hpp"

namespace halcyon::logfs {

/// All that is sound in an index dropping.
struct dropping_records {
    index_header header{};    ///< as it is, or made of the name
    bool has_header = false;  ///< one of its two is sound
    /// Else its writer ended before it wrote anything, or nothing of the index got to the disk.
    bool is_begun = false;
    std::vector<record> records;
    std::vector<index_damage> damages;
    dropping state;
};

/// `path`: of an index dropping, relative to the container. Failure: system, it cannot be read; config, it has another
/// format version.
result<dropping_records> read_dropping(container& from, std::string_view path);

}  // namespace halcyon::logfs
