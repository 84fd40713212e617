#include "offload/store/hdf5/file_description.hpp"

#include <set>

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
    std::vector<int64_t> table;
    std::vector<std::string> names;
    for (const missing_block& m : job.missing) {
        table.insert(table.end(), {m.iteration, m.rank, m.block, static_cast<int64_t>(m.reason)});
        names.push_back(job.data->variables.at(m.variable_id).name);
    }
    const hsize_t shape[] = {job.missing.size(), 4};
    write_dataset(own, "missing", H5T_NATIVE_INT64, shape, table.data());
    write_dataset(own, "missing_variables", names);
    const object_handle dataset{check(H5Oopen(own, "missing", H5P_DEFAULT), missing_path)};
    set_attribute(dataset.get(), "columns", std::vector<std::string>{"iteration", "rank", "block", "reason"});
    set_attribute(dataset.get(), "reasons",
                  std::vector<std::string>{"client_died", "skipped", "corrupt", "not_written", "uncommitted"});
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

std::vector<int64_t> listed(const extents& e) {
    return {e.span().begin(), e.span().end()};
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

attribute_list attributes_of(const mesh& m) {
    return {{"name", m.name},   {"type", std::string(name_of(m.type))}, {"coordinates", m.coordinates},
            {"cells", m.cells}, {"cell_types", m.cell_types},           {"cell_sizes", m.cell_sizes}};
}

attribute_list attributes_of(const file_job& job) {
    std::set<int64_t> incomplete(job.unfinished.begin(), job.unfinished.end());
    for (const missing_block& m : job.missing) incomplete.insert(m.iteration);
    attribute_list list{{"format", std::string(format_name)},
                        {"format_version", format_version},
                        {"simulation", job.data->simulation},
                        {"writer", job.writer},
                        {"ranks", int64_t{job.ranks}},
                        {"part", int64_t{job.part}},
                        {"incomplete", int64_t{incomplete.empty() ? 0 : 1}}};
    if (!incomplete.empty())
        list.push_back({"incomplete_iterations", std::vector<int64_t>(incomplete.begin(), incomplete.end())});
    return list;
}

void write_tables(hid_t own, const file_job& job) {
    write_iterations(own, job);
    write_missing(own, job);
    write_meshes(own, *job.data);
}

attribute_list attributes_of(const model& m, const variable& v) {
    const layout& l = m.layouts.at(v.layout_id);
    attribute_list list{{"type", std::string(offload::name_of(l.type))},
                        {"time_varying", int64_t{v.time_varying ? 1 : 0}},
                        {"placed", int64_t{v.place_id ? 1 : 0}},
                        {"centering", std::string(name_of(v.centered))},
                        {"layout", l.name}};
    if (!v.unit.empty()) list.push_back({"unit", v.unit});
    if (!v.description.empty()) list.push_back({"description", v.description});
    if (v.mesh_id) list.push_back({"mesh", m.meshes.at(*v.mesh_id).name});
    if (is_floating(l.type) && v.precision == precision::half) list.push_back({"precision", std::string("half")});
    if (is_floating(l.type) && v.precision == precision::bitround)
        list.push_back({"precision", "bitround " + std::to_string(v.significant_bits)});
    return list;
}

attribute_list attributes_of_dataset(int32_t rank, int32_t block, const block_shape& shape,
                                     const std::vector<int64_t>& present, int64_t rows) {
    attribute_list list{{"rank", int64_t{rank}},
                        {"block", int64_t{block}},
                        {"global", listed(shape.global)},
                        {"offset", listed(shape.offset)},
                        {"ghost_before", listed(shape.ghost_before)},
                        {"ghost_after", listed(shape.ghost_after)}};
    if (static_cast<int64_t>(present.size()) < rows) list.push_back({"rows", present});
    return list;
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
