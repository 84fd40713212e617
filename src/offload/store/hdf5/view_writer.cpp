#include "offload/store/hdf5/view_writer.hpp"

#include <hdf5_hl.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "offload/store/hdf5/file_driver.hpp"
#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/library_use.hpp"
#include "offload/store/hdf5/types.hpp"
#include "offload/store/hdf5/zstd_filter.hpp"

namespace halcyon::offload::hdf5 {
namespace {

/// HDF5 replaces "%b" in the names of a virtual dataset's sources; "%%" is a plain '%'.
std::string escaped(const std::string& name) {
    std::string out;
    for (const char c : name) out += c == '%' ? "%%" : std::string(1, c);
    return out;
}

std::vector<hsize_t> sizes(const std::vector<int64_t>& list) {
    return {list.begin(), list.end()};
}

space_handle space_of(const std::vector<int64_t>& shape) {
    const std::vector<hsize_t> extents = sizes(shape);
    return space_handle{
        check(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), "dataspace")};
}

void select(const space_handle& space, const std::vector<int64_t>& start, const std::vector<int64_t>& count) {
    const std::vector<hsize_t> from = sizes(start);
    const std::vector<hsize_t> n = sizes(count);
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, from.data(), nullptr, n.data(), nullptr), "selection");
}

int64_t value_count(const std::vector<int64_t>& shape) {
    int64_t n = 1;
    for (const int64_t v : shape) n *= v;
    return n;
}

list_handle plain_list() {
    list_handle list{check(H5Pcreate(H5P_DATASET_CREATE), "dataset list")};
    check(H5Pset_obj_track_times(list.get(), false), "dataset list");
    check(H5Pset_attr_phase_change(list.get(), 32, 24), "dataset list");
    return list;
}

void create_groups(hid_t file, const std::string& path, std::set<std::string>& made) {
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        const std::string group = path.substr(0, slash);
        if (made.insert(group).second) static_cast<void>(create_group(file, group, 16));
    }
}

dataset_handle write_scale(hid_t file, const dimension& d) {
    const list_handle list = plain_list();
    const space_handle space = space_of({d.size});
    const bool plain = d.what == dimension::kind::plain;
    // netCDF's own way to say 'a dimension without coordinates': a scale of this type and name, never written.
    const hid_t type = plain ? H5T_IEEE_F32BE : type_of(d.type);
    dataset_handle dataset{
        check(H5Dcreate2(file, d.path.c_str(), type, space.get(), link_list(), list.get(), H5P_DEFAULT), "/" + d.path)};
    if (plain) {
        char name[80];
        std::snprintf(name, sizeof name, "This is a netCDF dimension but not a netCDF variable.%10lld",
                      static_cast<long long>(d.size));
        check(H5DSset_scale(dataset.get(), name), "/" + d.path);
        return dataset;
    }
    const void* values =
        d.what == dimension::kind::number ? static_cast<const void*>(d.numbers.data()) : d.values.data();
    if (d.size > 0) check(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "/" + d.path);
    const std::string leaf = d.path.substr(d.path.rfind('/') + 1);
    check(H5DSset_scale(dataset.get(), leaf.c_str()), "/" + d.path);
    if (!d.unit.empty()) set_attribute(dataset.get(), "units", d.unit);
    if (!d.description.empty()) set_attribute(dataset.get(), "long_name", d.description);
    // Text of fixed length: VTK's netCDF reader does not see attributes of type string.
    if (d.axis != '\0') set_attribute(dataset.get(), "axis", H5T_FORTRAN_S1, &d.axis);
    return dataset;
}

list_handle mapping(const view_variable& v) {
    list_handle list = plain_list();
    check(H5Pset_fill_value(list.get(), type_of(v.description.type), fill_value(v.description.type).data()), v.path);
    const space_handle target = space_of(v.shape);
    for (const piece& p : v.pieces) {
        const space_handle source = space_of(p.source_shape);
        select(source, p.source_start, p.source_count);
        select(target, p.target_start, p.target_count);
        check(
            H5Pset_virtual(list.get(), target.get(), escaped(p.file).c_str(), escaped(p.dataset).c_str(), source.get()),
            "/" + v.path + ": map " + p.file);
    }
    return list;
}

void write_description(hid_t dataset, const view_variable& v) {
    const stored_variable& d = v.description;
    if (!d.unit.empty()) set_attribute(dataset, "units", d.unit);
    if (!d.description.empty()) set_attribute(dataset, "long_name", d.description);
    if (!d.mesh.empty()) set_attribute(dataset, "mesh_name", d.mesh);
    if (!v.coordinates.empty()) set_attribute(dataset, "coordinates", v.coordinates);
    // Readers turn integers with a fill value into floating point, so integers say it only where it is needed.
    if (is_floating(d.type) || v.gaps) {
        const hsize_t one = 1;
        const space_handle space{check(H5Screate_simple(1, &one, nullptr), v.path)};
        const attribute_handle fill{
            check(H5Acreate2(dataset, "_FillValue", type_of(d.type), space.get(), H5P_DEFAULT, H5P_DEFAULT), v.path)};
        check(H5Awrite(fill.get(), type_of(d.type), fill_value(d.type).data()), v.path);
    }
}

void write_variable(hid_t file, const view_plan& plan, const view_variable& v,
                    const std::vector<dataset_handle>& scales, const std::string& folder) {
    const hid_t type = type_of(v.description.type);
    dataset_handle dataset;
    if (v.shape.empty() || v.pieces.empty()) {
        // HDF5 has no virtual scalars, and an array without elements needs no sources.
        const space_handle space = v.shape.empty() ? space_handle{H5Screate(H5S_SCALAR)} : space_of(v.shape);
        const list_handle list = plain_list();
        check(H5Pset_fill_value(list.get(), type, fill_value(v.description.type).data()), v.path);
        dataset = dataset_handle{check(
            H5Dcreate2(file, v.path.c_str(), type, space.get(), link_list(), list.get(), H5P_DEFAULT), "/" + v.path)};
        if (v.shape.empty()) {
            check(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, read_array(v, folder).data()), v.path);
        }
    } else {
        const space_handle space = space_of(v.shape);
        dataset = dataset_handle{
            check(H5Dcreate2(file, v.path.c_str(), type, space.get(), link_list(), mapping(v).get(), H5P_DEFAULT),
                  "/" + v.path)};
    }
    for (size_t axis = 0; axis < v.dimensions.size(); ++axis) {
        check(H5DSattach_scale(dataset.get(), scales[v.dimensions[axis]].get(), static_cast<unsigned>(axis)),
              "/" + v.path + ": attach " + plan.dimensions[v.dimensions[axis]].path);
    }
    write_description(dataset.get(), v);
}

}  // namespace

file_handle open_source(const std::string& path) {
    const list_handle access{check(H5Pcreate(H5P_FILE_ACCESS), "file access list")};
    check(H5Pset_file_locking(access.get(), false, true), "switch off file locks");
    return file_handle{check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), path)};
}

std::vector<std::byte> read_array(const view_variable& v, const std::string& folder) {
    register_zstd_filter();
    const scalar_type type = v.description.type;
    const std::vector<std::byte> fill = fill_value(type);
    std::vector<std::byte> values(static_cast<size_t>(value_count(v.shape)) * fill.size());
    for (size_t at = 0; at < values.size(); at += fill.size())
        std::memcpy(values.data() + at, fill.data(), fill.size());
    for (const piece& p : v.pieces) {
        const std::string path = folder + "/" + p.file;
        const file_handle file = open_source(path);
        const dataset_handle dataset{
            check(H5Dopen2(file.get(), p.dataset.c_str(), H5P_DEFAULT), path + ": " + p.dataset)};
        const space_handle source = space_of(p.source_shape);
        select(source, p.source_start, p.source_count);
        space_handle target{check(H5Screate(H5S_SCALAR), v.path)};
        if (!v.shape.empty()) {
            target = space_of(v.shape);
            select(target, p.target_start, p.target_count);
        }
        check(H5Dread(dataset.get(), type_of(type), target.get(), source.get(), H5P_DEFAULT, values.data()),
              path + ": read " + p.dataset);
    }
    return values;
}

namespace {

/// A view on its way: closed inside the library, whatever happened outside.
struct open_view {
    file_handle file;
    std::vector<dataset_handle> scales;
    std::set<std::string> groups;

    open_view() = default;
    open_view(const open_view&) = delete;
    open_view& operator=(const open_view&) = delete;
    ~open_view() {
        const library_use now;
        scales.clear();
        file.reset();
    }
};

void begin_view(open_view& view, const view_plan& plan, const view_notes& notes, output_file& out) {
    constexpr size_t per_variable = 4096;
    const library_use now;
    view.file = create_file(out, notes.simulation, 65536 + per_variable * plan.variables.size());
    const hid_t file = view.file.get();
    set_attribute(file, "format", std::string(view_format_name));
    set_attribute(file, "format_version", format_version);
    set_attribute(file, "simulation", notes.simulation);
    if (!plan.incomplete_iterations.empty()) set_attribute(file, "incomplete_iterations", plan.incomplete_iterations);
    if (!plan.not_shown.empty()) set_attribute(file, "not_shown", plan.not_shown);
    if (!plan.mesh_remarks.empty()) set_attribute(file, "unfit_meshes", plan.mesh_remarks);
    if (!notes.unreadable_files.empty()) set_attribute(file, "unreadable_files", notes.unreadable_files);
    for (const dimension& d : plan.dimensions) {
        create_groups(file, d.path, view.groups);
        view.scales.push_back(write_scale(file, d));
    }
}

}  // namespace

void write_view(const view_plan& plan, const view_notes& notes, const std::string& folder, output_file& out) {
    open_view view;
    begin_view(view, plan, notes, out);
    for (const view_variable& v : plan.variables) {
        // A variable of thousands of pieces takes long: whoever stores has the library between two of them.
        const library_use now;
        create_groups(view.file.get(), v.path, view.groups);
        write_variable(view.file.get(), plan, v, view.scales, folder);
    }
    const library_use now;
    view.scales.clear();
    check(H5Fclose(view.file.release()), notes.simulation + ": close the view");
}

}  // namespace halcyon::offload::hdf5
