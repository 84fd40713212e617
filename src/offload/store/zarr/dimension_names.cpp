#include "offload/store/zarr/dimension_names.hpp"

#include <algorithm>
#include <set>

namespace halcyon::offload::zarr {
namespace {

constexpr const char* rows_name = "iteration";

std::string leaf(const std::string& name) {
    return name.substr(name.rfind('/') + 1);
}

/// The coordinates that name the dimensions of `v`; empty: there are none.
std::vector<std::string> coordinates_of(const model& m, const variable& v) {
    std::vector<std::string> names;
    if (v.mesh_id) {
        const mesh& on = m.meshes.at(*v.mesh_id);
        if (on.type == mesh_type::rectilinear)
            for (const std::string& name : on.coordinates) names.push_back(leaf(name));
        return names;
    }
    for (const mesh& on : m.meshes)
        if (on.type == mesh_type::rectilinear &&
            std::find(on.coordinates.begin(), on.coordinates.end(), v.name) != on.coordinates.end())
            return {leaf(v.name)};
    return names;
}

}  // namespace

dimension_names::dimension_names(const model& m, std::span<const domain_rows> arrays) {
    size_t rank = 0;
    for (const domain_rows& array : arrays)
        rank = std::max(rank, static_cast<size_t>(array.sample().shape.dimensions.rank));
    names_ = coordinates_of(m, *arrays.front().var);
    std::set<std::string> distinct(names_.begin(), names_.end());
    distinct.insert(rows_name);
    if (names_.size() != rank || distinct.size() != rank + 1) {
        names_.clear();
        for (size_t d = 0; d < rank; ++d) names_.push_back("dim_" + std::to_string(d));
    }
    varies_.resize(rank);
    const extents& first = arrays.front().sample().shape.dimensions;
    for (const domain_rows& array : arrays) {
        const extents& dimensions = array.sample().shape.dimensions;
        for (int d = 0; d < dimensions.rank; ++d)
            if (d >= first.rank || dimensions[d] != first[d]) varies_[static_cast<size_t>(d)] = true;
    }
}

std::vector<std::string> dimension_names::of(const domain_rows& array) const {
    std::vector<std::string> list{rows_name};
    const extents& dimensions = array.sample().shape.dimensions;
    for (int d = 0; d < dimensions.rank; ++d) {
        const auto at = static_cast<size_t>(d);
        list.push_back(names_[at] + (varies_[at] ? "_" + std::to_string(dimensions[d]) : ""));
    }
    return list;
}

}  // namespace halcyon::offload::zarr
