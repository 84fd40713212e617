#include "offload/store/hdf5/types.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace halcyon::offload::hdf5 {
namespace {

template <class T>
std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> list;
    list.reserve(texts.size());
    for (const std::string& text : texts) list.push_back(text.c_str());
    return list;
}

void write_attribute(hid_t object, const char* name, hid_t type, hid_t space, const void* value) {
    const attribute_handle attribute{check(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), name)};
    check(H5Awrite(attribute.get(), type, value), name);
}

space_handle list_space(size_t length) {
    const hsize_t dimension = length;
    return space_handle{check(H5Screate_simple(1, &dimension, nullptr), "dataspace")};
}

attribute_handle open_attribute(hid_t object, const char* name) {
    return attribute_handle{check(H5Aopen(object, name, H5P_DEFAULT), std::string("attribute ") + name)};
}

size_t length_of(const attribute_handle& attribute, const char* name) {
    const space_handle space{check(H5Aget_space(attribute.get()), name)};
    return static_cast<size_t>(check(H5Sget_simple_extent_npoints(space.get()), name));
}

}  // namespace

hid_t type_of(scalar_type type) {
    switch (type) {
        case scalar_type::int8:
            return H5T_NATIVE_INT8;
        case scalar_type::int16:
            return H5T_NATIVE_INT16;
        case scalar_type::int32:
            return H5T_NATIVE_INT32;
        case scalar_type::int64:
            return H5T_NATIVE_INT64;
        case scalar_type::uint8:
            return H5T_NATIVE_UINT8;
        case scalar_type::uint16:
            return H5T_NATIVE_UINT16;
        case scalar_type::uint32:
            return H5T_NATIVE_UINT32;
        case scalar_type::uint64:
            return H5T_NATIVE_UINT64;
        case scalar_type::float32:
            return H5T_NATIVE_FLOAT;
        case scalar_type::float64:
            return H5T_NATIVE_DOUBLE;
    }
    throw error(error_kind::internal, "a scalar type without an HDF5 type");
}

hid_t half_type() {
    static const hid_t type = [] {
        const hid_t half = check(H5Tcopy(H5T_NATIVE_FLOAT), "binary16 type");
        check(H5Tset_fields(half, 15, 10, 5, 0, 10), "binary16 fields");
        check(H5Tset_size(half, 2), "binary16 size");
        check(H5Tset_ebias(half, 15), "binary16 bias");
        return half;
    }();
    return type;
}

scalar_type scalar_type_of(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(scalar_type::float64); ++i) {
        if (name_of(static_cast<scalar_type>(i)) == name) return static_cast<scalar_type>(i);
    }
    throw error(error_kind::system, "unknown element type '" + std::string(name) + "'");
}

hid_t string_type() {
    static const hid_t type = [] {
        const hid_t text = check(H5Tcopy(H5T_C_S1), "string type");
        check(H5Tset_size(text, H5T_VARIABLE), "string type");
        check(H5Tset_cset(text, H5T_CSET_UTF8), "string type");
        return text;
    }();
    return type;
}

void set_attribute(hid_t object, const char* name, int64_t value) {
    set_attribute(object, name, H5T_NATIVE_INT64, &value);
}

void set_attribute(hid_t object, const char* name, std::span<const int64_t> values) {
    constexpr int64_t none = 0;  // HDF5 wants an address even for no values
    write_attribute(object, name, H5T_NATIVE_INT64, list_space(values.size()).get(),
                    values.empty() ? &none : values.data());
}

void set_attribute(hid_t object, const char* name, const std::string& value) {
    const char* text = value.c_str();
    set_attribute(object, name, string_type(), &text);
}

void set_attribute(hid_t object, const char* name, const std::vector<std::string>& values) {
    write_attribute(object, name, string_type(), list_space(values.size()).get(), pointers(values).data());
}

void set_attribute(hid_t object, const char* name, hid_t type, const void* value) {
    static const hid_t scalar = check(H5Screate(H5S_SCALAR), "dataspace");
    write_attribute(object, name, type, scalar, value);
}

void set_attributes(hid_t object, const attribute_list& list) {
    for (const attribute& a : list)
        std::visit([&](const auto& value) { set_attribute(object, a.name, value); }, a.value);
}

int64_t get_integer(hid_t object, const char* name) {
    const std::vector<int64_t> values = get_integers(object, name);
    if (values.size() != 1) throw error(error_kind::system, std::string("attribute ") + name + " is not one number");
    return values[0];
}

std::vector<int64_t> get_integers(hid_t object, const char* name) {
    const attribute_handle attribute = open_attribute(object, name);
    std::vector<int64_t> values(length_of(attribute, name));
    if (!values.empty()) check(H5Aread(attribute.get(), H5T_NATIVE_INT64, values.data()), name);
    return values;
}

std::string get_string(hid_t object, const char* name) {
    std::vector<std::string> values = get_strings(object, name);
    if (values.size() != 1) throw error(error_kind::system, std::string("attribute ") + name + " is not one text");
    return std::move(values[0]);
}

std::vector<std::string> get_strings(hid_t object, const char* name) {
    const attribute_handle attribute = open_attribute(object, name);
    std::vector<char*> texts(length_of(attribute, name), nullptr);
    std::vector<std::string> values;
    if (texts.empty()) return values;
    check(H5Aread(attribute.get(), string_type(), texts.data()), name);
    for (const char* text : texts) values.emplace_back(text == nullptr ? "" : text);
    const space_handle space = list_space(texts.size());
    check(H5Dvlen_reclaim(string_type(), space.get(), H5P_DEFAULT, texts.data()), name);
    return values;
}

bool has_attribute(hid_t object, const char* name) {
    return check(H5Aexists(object, name), name) > 0;
}

void write_dataset(hid_t parent, const std::string& path, hid_t type, std::span<const hsize_t> shape,
                   const void* values, keep_values where) {
    constexpr size_t fits_a_header = 32768;
    const space_handle space{check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), path)};
    const list_handle creation{check(H5Pcreate(H5P_DATASET_CREATE), path)};
    check(H5Pset_obj_track_times(creation.get(), false), path);
    size_t bytes = check(H5Sget_simple_extent_npoints(space.get()), path) * H5Tget_size(type);
    if (bytes <= fits_a_header && where == keep_values::in_header_if_small)
        check(H5Pset_layout(creation.get(), H5D_COMPACT), path);
    const dataset_handle dataset{
        check(H5Dcreate2(parent, path.c_str(), type, space.get(), link_list(), creation.get(), H5P_DEFAULT), path)};
    if (bytes > 0) check(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), path);
}

void write_dataset(hid_t parent, const std::string& path, const std::vector<std::string>& values) {
    const hsize_t length = values.size();
    write_dataset(parent, path, string_type(), {&length, 1}, pointers(values).data());
}

group_handle create_group(hid_t parent, const std::string& name, size_t entries) {
    constexpr size_t scanned_quickly = 256;
    const list_handle creation{check(H5Pcreate(H5P_GROUP_CREATE), name)};
    check(H5Pset_obj_track_times(creation.get(), false), name);
    // A few links fit the group's header; HDF5's own limit of 8 would give each larger group a heap and a tree.
    const auto links = static_cast<unsigned>(std::clamp<size_t>(entries, 4, scanned_quickly));
    check(H5Pset_link_phase_change(creation.get(), links, links / 2), name);
    check(H5Pset_est_link_info(creation.get(), links, 8), name);
    return group_handle{check(H5Gcreate2(parent, name.c_str(), link_list(), creation.get(), H5P_DEFAULT), name)};
}

hid_t link_list() {
    static const hid_t list = [] {
        const hid_t id = check(H5Pcreate(H5P_LINK_CREATE), "link list");
        check(H5Pset_char_encoding(id, H5T_CSET_UTF8), "link list");
        return id;
    }();
    return list;
}

}  // namespace halcyon::offload::hdf5
