#include "offload/store/hdf5/file_writer.hpp"

#include <map>
#include <set>
#include <string>

#include "offload/store/hdf5/chunking.hpp"
#include "offload/store/hdf5/file_driver.hpp"
#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/index_writer.hpp"
#include "offload/store/hdf5/types.hpp"
#include "offload/store/hdf5/zstd_filter.hpp"

namespace halcyon::offload::hdf5 {
namespace {

/// The file's groups, each created when it is first needed and kept open.
class group_tree {
  public:
    group_tree(hid_t file, const std::vector<domain_rows>& datasets) : file_(file) {
        // Each dataset is an entry of its group; each group, when first seen, one of its parent.
        for (const domain_rows& set : datasets) {
            std::string path = "/" + set.var->name;
            while (!path.empty() && entries_[path]++ == 0) path.resize(path.rfind('/'));
        }
    }

    hid_t open(const std::string& path) {
        if (path.empty()) return file_;
        const auto known = open_.find(path);
        if (known != open_.end()) return known->second.get();
        const size_t slash = path.rfind('/');
        const hid_t parent = open(path.substr(0, slash));
        group_handle group = create_group(parent, path.substr(slash + 1), entries_[path]);
        return open_.emplace(path, std::move(group)).first->second.get();
    }

  private:
    hid_t file_;
    std::map<std::string, size_t> entries_;
    std::map<std::string, group_handle> open_;
};

void describe_file(hid_t file, const file_job& job) {
    set_attribute(file, "format", std::string(format_name));
    set_attribute(file, "format_version", format_version);
    set_attribute(file, "simulation", job.data->simulation);
    set_attribute(file, "writer", job.writer);
    set_attribute(file, "ranks", int64_t{job.ranks});
    set_attribute(file, "part", int64_t{job.part});
    std::set<int64_t> incomplete(job.unfinished.begin(), job.unfinished.end());
    for (const missing_block& m : job.missing) incomplete.insert(m.iteration);
    set_attribute(file, "incomplete", int64_t{incomplete.empty() ? 0 : 1});
    if (!incomplete.empty())
        set_attribute(file, "incomplete_iterations", std::vector<int64_t>(incomplete.begin(), incomplete.end()));
}

void write_iterations(hid_t own, const file_job& job) {
    const hsize_t count = job.iterations.size();
    write_dataset(own, "iterations", H5T_NATIVE_INT64, {&count, 1}, job.iterations.data());
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
    set_attribute(dataset.get(), "reasons", std::vector<std::string>{"client_died", "skipped", "corrupt"});
}

void write_meshes(hid_t own, const model& m) {
    if (m.meshes.empty()) return;
    const group_handle all = create_group(own, "meshes", m.meshes.size());
    for (size_t i = 0; i < m.meshes.size(); ++i) {
        const mesh& one = m.meshes[i];
        const group_handle group = create_group(all.get(), std::to_string(i), 0);
        set_attribute(group.get(), "name", one.name);
        set_attribute(group.get(), "type", std::string(name_of(one.type)));
        set_attribute(group.get(), "coordinates", one.coordinates);
        set_attribute(group.get(), "cells", one.cells);
        set_attribute(group.get(), "cell_types", one.cell_types);
        set_attribute(group.get(), "cell_sizes", one.cell_sizes);
    }
}

void describe_variable(hid_t group, const model& m, const variable& v) {
    const layout& l = m.layouts.at(v.layout_id);
    set_attribute(group, "type", std::string(offload::name_of(l.type)));
    set_attribute(group, "time_varying", int64_t{v.time_varying ? 1 : 0});
    set_attribute(group, "placed", int64_t{v.place_id ? 1 : 0});
    set_attribute(group, "centering", std::string(name_of(v.centered)));
    set_attribute(group, "layout", l.name);
    if (!v.unit.empty()) set_attribute(group, "unit", v.unit);
    if (!v.description.empty()) set_attribute(group, "description", v.description);
    if (v.mesh_id) set_attribute(group, "mesh", m.meshes.at(*v.mesh_id).name);
    if (is_floating(l.type) && v.precision == precision::half) set_attribute(group, "precision", std::string("half"));
    if (is_floating(l.type) && v.precision == precision::bitround) {
        set_attribute(group, "precision", "bitround " + std::to_string(v.significant_bits));
    }
}

void describe_domain(hid_t dataset, const domain_rows& set) {
    const block_view& block = set.sample();
    set_attribute(dataset, "rank", int64_t{block.rank});
    set_attribute(dataset, "block", int64_t{block.block});
    set_attribute(dataset, "global", block.shape.global.span());
    set_attribute(dataset, "offset", block.shape.offset.span());
    set_attribute(dataset, "ghost_before", block.shape.ghost_before.span());
    set_attribute(dataset, "ghost_after", block.shape.ghost_after.span());
    const std::vector<int64_t> present = set.present();
    if (present.size() < set.rows.size()) set_attribute(dataset, "rows", present);
}

list_handle creation_list(const encoding& how, std::span<const hsize_t> chunk, bool empty) {
    list_handle list{check(H5Pcreate(H5P_DATASET_CREATE), "dataset list")};
    check(H5Pset_obj_track_times(list.get(), false), "dataset list");
    // All attributes in the header: HDF5's own limit of 8 would give each dataset a heap and a tree for them.
    check(H5Pset_attr_phase_change(list.get(), 32, 24), "dataset list");
    const bool half = how.precision == precision::half;
    check(H5Pset_fill_value(list.get(), half ? half_type() : type_of(how.type), fill_value(how.type, half).data()),
          "fill value");
    if (empty) return list;
    check(H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()), "chunk shape");
    if (how.shuffles()) check(H5Pset_shuffle(list.get()), "shuffle");
    const auto level = static_cast<unsigned>(how.level);
    if (how.method == compression::gzip) check(H5Pset_deflate(list.get(), level), "gzip");
    if (how.method == compression::zstd) {
        check(H5Pset_filter(list.get(), zstd_filter_id, H5Z_FLAG_OPTIONAL, 1, &level), "zstd");
    }
    if (how.checksum) check(H5Pset_fletcher32(list.get()), "checksum");
    return list;
}

/// Steps `origin` to the next chunk in C order; false behind the last one.
bool next_chunk(std::vector<hsize_t>& origin, std::span<const hsize_t> chunk, std::span<const hsize_t> shape) {
    for (size_t d = origin.size(); d-- > 0;) {
        origin[d] += chunk[d];
        if (origin[d] < shape[d]) return true;
        origin[d] = 0;
    }
    return false;
}

/// What the datasets of a variable share as long as their blocks have one shape: making HDF5's lists takes longer
/// than making a dataset with them.
struct dataset_kind {
    const variable* var = nullptr;
    encoding how;
    std::vector<hsize_t> shape, chunk;
    hid_t stored_type = H5I_INVALID_HID;
    bool empty = false;
    space_handle space;
    list_handle list;
};

void prepare(dataset_kind& kind, const file_job& job, const domain_rows& set) {
    const extents& dimensions = set.sample().shape.dimensions;
    std::vector<hsize_t> shape{set.rows.size()};
    shape.insert(shape.end(), dimensions.span().begin(), dimensions.span().end());
    if (kind.var == set.var && kind.shape == shape) return;
    kind.var = set.var;
    kind.shape = std::move(shape);
    const scalar_type type = job.data->layouts.at(set.var->layout_id).type;
    kind.how = encoding::of(*set.var, type, job.compress, job.target->checksum);
    kind.chunk = chunk_shape(static_cast<int64_t>(kind.shape[0]), dimensions,
                             static_cast<int64_t>(kind.how.stored_element_bytes()), job.target->expected_reader);
    kind.stored_type = kind.how.precision == precision::half ? half_type() : type_of(type);
    kind.empty = dimensions.count() == 0;
    kind.space = space_handle{
        check(H5Screate_simple(static_cast<int>(kind.shape.size()), kind.shape.data(), nullptr), "dataspace")};
    kind.list = creation_list(kind.how, kind.chunk, kind.empty);
}

void write_domain(hid_t group, const domain_rows& set, const dataset_kind& kind, output_file& out,
                  writer_memory& memory) {
    const std::string name = domain_name(set.domain, set.variant);
    const auto doing = [&](const char* what) { return "'" + set.var->name + "': " + what + " its dataset " + name; };
    const dataset_handle dataset{check(
        H5Dcreate2(group, name.c_str(), kind.stored_type, kind.space.get(), link_list(), kind.list.get(), H5P_DEFAULT),
        doing("create"))};
    describe_domain(dataset.get(), set);
    if (kind.empty) return;

    std::vector<hsize_t> origin(kind.shape.size(), 0);
    do {
        if (kind.chunk[0] == 1 && set.rows[origin[0]] == nullptr) continue;
        const encoded_chunk encoded =
            memory.encoder.encode(cut_chunk(set, kind.how.type, origin, kind.chunk, memory.cut), kind.how);
        check(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, encoded.filter_mask, origin.data(), encoded.bytes.size(),
                             encoded.bytes.data()),
              doing("write"));
        out.throw_if_failed();
    } while (next_chunk(origin, kind.chunk, kind.shape));
}

}  // namespace

void write_contents(const file_job& job, const std::vector<domain_rows>& datasets, output_file& out,
                    writer_memory& memory) {
    for (const domain_rows& set : datasets) check_name(set.var->name).value();
    constexpr size_t per_dataset = 704;
    constexpr size_t per_file = 4096;
    file_handle file = create_file(out, job.path, per_file + per_dataset * datasets.size());
    {
        describe_file(file.get(), job);
        const group_handle own = create_group(file.get(), reserved_group, 5);
        write_iterations(own.get(), job);
        write_missing(own.get(), job);
        write_meshes(own.get(), *job.data);
        group_tree groups(file.get(), datasets);
        dataset_kind kind;
        for (const domain_rows& set : datasets) {
            const hid_t group = groups.open("/" + set.var->name);
            if (kind.var != set.var) describe_variable(group, *job.data, *set.var);
            prepare(kind, job, set);
            write_domain(group, set, kind, out, memory);
        }
        if (job.target->index) write_index(own.get(), job, datasets);
    }
    check(H5Fclose(file.release()), job.path + ": close");
}

}  // namespace halcyon::offload::hdf5
