#include "offload/store/hdf5/file_description.hpp"

#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/types.hpp"

namespace halcyon::offload::hdf5 {
namespace {

void write_iterations(hid_t own, const file_job& job) {
    const hsize_t count = job.iterations.size();
    write_dataset(own, "iterations", H5T_NATIVE_INT64, {&count, 1}, job.iterations.data(), keep_values::apart);
}

void write_missing(hid_t own, const file_job& job) {
    if (job.missing.empty()) return;
    const missing_table missing = missing_of(job);
    const hsize_t shape[] = {job.missing.size(), 4};
    write_dataset(own, "missing", H5T_NATIVE_INT64, shape, missing.rows.data());
    write_dataset(own, "missing_variables", missing.variables);
    const object_handle dataset{check(H5Oopen(own, "missing", H5P_DEFAULT), missing_path)};
    set_attributes(dataset.get(), attributes_of_missing());
}

void write_meshes(hid_t own, const model& m) {
    if (m.meshes.empty()) return;
    const group_handle all = create_group(own, "meshes", m.meshes.size());
    for (size_t i = 0; i < m.meshes.size(); ++i) {
        const mesh& one = m.meshes[i];
        const group_handle group = create_group(all.get(), std::to_string(i), 0);
        set_attributes(group.get(), attributes_of(one));
    }
}

}  // namespace

group_tree::group_tree(hid_t file, std::span<const std::string> datasets) : file_(file) {
    // Each dataset is an entry of its group; each group, when first seen, one of its parent.
    for (const std::string& variable : datasets) {
        std::string path = "/" + variable;
        while (!path.empty() && entries_[path]++ == 0) path.resize(path.rfind('/'));
    }
}

hid_t group_tree::open(const std::string& path) {
    if (path.empty()) return file_;
    const auto known = open_.find(path);
    if (known != open_.end()) return known->second.get();
    const size_t slash = path.rfind('/');
    const hid_t parent = open(path.substr(0, slash));
    group_handle group = create_group(parent, path.substr(slash + 1), entries_[path]);
    return open_.emplace(path, std::move(group)).first->second.get();
}

void write_tables(hid_t own, const file_job& job) {
    write_iterations(own, job);
    write_missing(own, job);
    write_meshes(own, *job.data);
}

list_handle plain_creation_list(const encoding& how) {
    list_handle list{check(H5Pcreate(H5P_DATASET_CREATE), "dataset list")};
    check(H5Pset_obj_track_times(list.get(), false), "dataset list");
    // All attributes in the header: HDF5's own limit of 8 would give each dataset a heap and a tree for them.
    check(H5Pset_attr_phase_change(list.get(), 32, 24), "dataset list");
    const bool half = how.precision == precision::half;
    check(H5Pset_fill_value(list.get(), half ? half_type() : type_of(how.type), fill_value(how.type, half).data()),
          "fill value");
    return list;
}

}  // namespace halcyon::offload::hdf5
