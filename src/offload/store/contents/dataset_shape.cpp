#include "offload/store/contents/dataset_shape.hpp"

#include "offload/store/contents/chunking.hpp"

namespace halcyon::offload {

bool fit(dataset_shape& known, const file_job& job, const domain_rows& set) {
    const extents& dimensions = set.sample().shape.dimensions;
    std::vector<uint64_t> shape{set.rows.size()};
    shape.insert(shape.end(), dimensions.span().begin(), dimensions.span().end());
    if (known.var == set.var && known.shape == shape) return false;
    known.var = set.var;
    known.shape = std::move(shape);
    const scalar_type type = job.data->layouts.at(set.var->layout_id).type;
    known.how = encoding::of(*set.var, type, job.compress, job.target->checksum);
    known.chunk = chunk_shape(static_cast<int64_t>(known.shape[0]), dimensions,
                              static_cast<int64_t>(known.how.stored_element_bytes()), job.target->expected_reader);
    known.empty = dimensions.count() == 0;
    return true;
}

bool next_chunk(std::vector<uint64_t>& origin, std::span<const uint64_t> chunk, std::span<const uint64_t> shape) {
    for (size_t d = origin.size(); d-- > 0;) {
        origin[d] += chunk[d];
        if (origin[d] < shape[d]) return true;
        origin[d] = 0;
    }
    return false;
}

}  // namespace halcyon::offload
