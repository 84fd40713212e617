#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "offload/model/model.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// One dataset of a published file: the blocks of a domain.
struct stored_domain {
    std::string dataset;  ///< path inside the file
    int64_t domain = 0;   ///< shared_dataset::whole: all blocks in one array
    bool gaps = false;    ///< of a whole: some elements are fill
    extents dimensions, global, offset, ghost_before, ghost_after;
    int64_t row_count = 0;
    std::vector<int64_t> rows;  ///< those that hold a block
    friend bool operator==(const stored_domain&, const stored_domain&) = default;

    /// Extent of the block's interior in each dimension.
    [[nodiscard]] extents interior() const { return less_ghosts(dimensions, ghost_before, ghost_after); }
};

struct stored_variable {
    std::string name;
    scalar_type type = scalar_type::float32;
    bool time_varying = true;
    bool placed = false;
    std::string unit, description, mesh;
    centering centered = centering::cell;
    std::vector<stored_domain> domains;
    friend bool operator==(const stored_variable&, const stored_variable&) = default;
};

struct stored_mesh {
    std::string name, type;
    std::vector<std::string> coordinates;
    friend bool operator==(const stored_mesh&, const stored_mesh&) = default;
};

/// What a file holds apart from iteration numbers: the same for most files of a writer, then shared.
struct file_layout {
    std::vector<stored_variable> variables;
    std::vector<stored_mesh> meshes;
    friend bool operator==(const file_layout&, const file_layout&) = default;
};

struct published_file {
    std::string file_name;  ///< without folder
    file_name_parts name;
    std::vector<int64_t> iterations;
    std::vector<int64_t> incomplete;  ///< iterations of which blocks are missing
    std::shared_ptr<const file_layout> layout;
};

/// Reads what `folder/file_name` holds, without its data. Throws (system) when it is not a complete file of the store.
[[nodiscard]] published_file read_published_file(const std::string& folder, const std::string& file_name,
                                                 const file_name_parts& name);

}  // namespace halcyon::offload::hdf5
