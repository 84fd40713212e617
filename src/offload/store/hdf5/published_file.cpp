#include "offload/store/hdf5/published_file.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/handle.hpp"
#include "offload/store/hdf5/types.hpp"
#include "offload/store/hdf5/view_writer.hpp"

namespace halcyon::offload::hdf5 {
namespace {

extents extents_of(const std::vector<int64_t>& values, const std::string& what) {
    if (values.size() > max_dimensions) throw error(error_kind::system, what + ": too many dimensions");
    extents e;
    for (const int64_t v : values) e.push_back(v);
    return e;
}

/// "whole", "whole.1", …
bool is_whole_name(std::string_view name) {
    return name == "whole" || name.starts_with("whole.");
}

bool is_domain_name(std::string_view name) {
    if (is_whole_name(name)) return true;
    if (name.size() < 7 || name[0] != 'd') return false;
    size_t end = 1;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    return end >= 7 && (end == name.size() || name[end] == '.');
}

stored_domain read_domain(hid_t group, const std::string& variable, const std::string& name) {
    stored_domain d;
    d.dataset = "/" + variable + "/" + name;
    if (is_whole_name(name))
        d.domain = shared_dataset::whole;
    else
        std::from_chars(name.data() + 1, name.data() + name.size(), d.domain);
    const dataset_handle dataset{check(H5Dopen2(group, name.c_str(), H5P_DEFAULT), d.dataset)};
    const space_handle space{check(H5Dget_space(dataset.get()), d.dataset)};
    hsize_t shape[H5S_MAX_RANK];
    const int rank = check(H5Sget_simple_extent_dims(space.get(), shape, nullptr), d.dataset);
    if (rank < 1 || rank > max_dimensions + 1) throw error(error_kind::system, d.dataset + ": unexpected rank");
    d.row_count = static_cast<int64_t>(shape[0]);
    for (int i = 1; i < rank; ++i) d.dimensions.push_back(static_cast<int64_t>(shape[i]));
    d.global = extents_of(get_integers(dataset.get(), "global"), d.dataset);
    d.offset = extents_of(get_integers(dataset.get(), "offset"), d.dataset);
    d.ghost_before = extents_of(get_integers(dataset.get(), "ghost_before"), d.dataset);
    d.ghost_after = extents_of(get_integers(dataset.get(), "ghost_after"), d.dataset);
    for (const extents* e : {&d.global, &d.offset, &d.ghost_before, &d.ghost_after}) {
        if (e->rank != d.dimensions.rank) throw error(error_kind::system, d.dataset + ": attributes of unequal rank");
    }
    d.gaps = has_attribute(dataset.get(), gaps_attribute);
    if (has_attribute(dataset.get(), "rows")) {
        d.rows = get_integers(dataset.get(), "rows");
    } else {
        d.rows.resize(static_cast<size_t>(d.row_count));
        std::iota(d.rows.begin(), d.rows.end(), 0);
    }
    return d;
}

std::string optional_text(hid_t object, const char* name) {
    return has_attribute(object, name) ? get_string(object, name) : "";
}

struct entry_list {
    std::vector<std::string> domains, groups;
};

herr_t take_entry(hid_t group, const char* name, const H5L_info_t* /*link*/, void* context) {
    auto& entries = *static_cast<entry_list*>(context);
    try {
        // A name of a domain may also be that of a group; the object decides.
        if (is_domain_name(name)) {
            H5O_info_t info;
            if (H5Oget_info_by_name1(group, name, &info, H5P_DEFAULT) < 0) return -1;
            if (info.type == H5O_TYPE_DATASET) {
                entries.domains.emplace_back(name);
                return 0;
            }
        }
        entries.groups.emplace_back(name);
        return 0;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}

void read_group(hid_t group, const std::string& path, file_layout& layout) {
    entry_list entries;
    check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, take_entry, &entries), "/" + path);
    if (!entries.domains.empty()) {
        stored_variable v;
        v.name = path;
        v.type = scalar_type_of(get_string(group, "type"));
        v.time_varying = get_integer(group, "time_varying") != 0;
        v.placed = get_integer(group, "placed") != 0;
        v.centered = get_string(group, "centering") == "node" ? centering::node : centering::cell;
        v.unit = optional_text(group, "unit");
        v.description = optional_text(group, "description");
        v.mesh = optional_text(group, "mesh");
        for (const std::string& name : entries.domains) v.domains.push_back(read_domain(group, path, name));
        layout.variables.push_back(std::move(v));
    }
    for (const std::string& name : entries.groups) {
        if (path.empty() && name == reserved_group) continue;
        std::string inner_path = path;
        if (!path.empty()) inner_path += '/';
        inner_path += name;
        const group_handle inner{check(H5Gopen2(group, name.c_str(), H5P_DEFAULT), inner_path)};
        read_group(inner.get(), inner_path, layout);
    }
}

void read_meshes(hid_t file, file_layout& layout) {
    if (check(H5Lexists(file, meshes_path, H5P_DEFAULT), meshes_path) == 0) return;
    const group_handle all{check(H5Gopen2(file, meshes_path, H5P_DEFAULT), meshes_path)};
    for (int i = 0; check(H5Lexists(all.get(), std::to_string(i).c_str(), H5P_DEFAULT), meshes_path) > 0; ++i) {
        const group_handle one{check(H5Gopen2(all.get(), std::to_string(i).c_str(), H5P_DEFAULT), meshes_path)};
        layout.meshes.push_back(
            {get_string(one.get(), "name"), get_string(one.get(), "type"), get_strings(one.get(), "coordinates")});
    }
}

std::vector<int64_t> read_iterations(hid_t file) {
    const dataset_handle dataset{check(H5Dopen2(file, iterations_path, H5P_DEFAULT), iterations_path)};
    const space_handle space{check(H5Dget_space(dataset.get()), iterations_path)};
    std::vector<int64_t> list(static_cast<size_t>(check(H5Sget_simple_extent_npoints(space.get()), iterations_path)));
    check(H5Dread(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data()), iterations_path);
    return list;
}

std::vector<int64_t> read_incomplete(hid_t file) {
    if (get_integer(file, "incomplete") == 0) return {};
    return get_integers(file, "incomplete_iterations");
}

}  // namespace

published_file read_published_file(const std::string& folder, const std::string& file_name,
                                   const file_name_parts& name) {
    const std::string path = folder + "/" + file_name;
    const file_handle file = open_source(path);
    if (get_string(file.get(), "format") != format_name) {
        throw error(error_kind::system, path + ": not a file of Halcyon's store");
    }
    if (get_integer(file.get(), "format_version") != format_version) {
        throw error(error_kind::system, path + ": written by another version of the format");
    }
    published_file found;
    found.file_name = file_name;
    found.name = name;
    found.iterations = read_iterations(file.get());
    found.incomplete = read_incomplete(file.get());
    auto layout = std::make_shared<file_layout>();
    read_meshes(file.get(), *layout);
    const group_handle root{check(H5Gopen2(file.get(), "/", H5P_DEFAULT), path)};
    read_group(root.get(), "", *layout);
    for (const stored_variable& v : layout->variables) {
        const auto rows = static_cast<int64_t>(v.time_varying ? found.iterations.size() : 1);
        for (const stored_domain& d : v.domains) {
            const bool fits = d.row_count == rows && std::all_of(d.rows.begin(), d.rows.end(), [rows](int64_t row) {
                                  return row >= 0 && row < rows;
                              });
            if (!fits) throw error(error_kind::system, path + ": " + d.dataset + " does not fit the file's iterations");
        }
    }
    found.layout = std::move(layout);
    return found;
}

}  // namespace halcyon::offload::hdf5
