#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "offload/model/model.hpp"
#include "offload/store/contents/description.hpp"
#include "offload/store/contents/fill_value.hpp"
#include "offload/store/hdf5/handle.hpp"

namespace halcyon::offload::hdf5 {

/// HDF5's type of an element; owned by the library, so not to be closed.
[[nodiscard]] hid_t type_of(scalar_type type);
/// IEEE 754 binary16, as h5py and NumPy (float16) know it.
[[nodiscard]] hid_t half_type();
/// The opposite of name_of(). Throws (system) for a word that names no type.
[[nodiscard]] scalar_type scalar_type_of(std::string_view name);

/// A variable-length UTF-8 string, which readers get as text.
[[nodiscard]] hid_t string_type();

void set_attribute(hid_t object, const char* name, int64_t value);
void set_attribute(hid_t object, const char* name, std::span<const int64_t> values);
void set_attribute(hid_t object, const char* name, const std::string& value);
void set_attribute(hid_t object, const char* name, const std::vector<std::string>& values);
/// One element of any type.
void set_attribute(hid_t object, const char* name, hid_t type, const void* value);

void set_attributes(hid_t object, const attribute_list& list);

/// Each throws (system) when there is no such attribute or it is of another kind.
[[nodiscard]] int64_t get_integer(hid_t object, const char* name);
[[nodiscard]] std::vector<int64_t> get_integers(hid_t object, const char* name);
[[nodiscard]] std::string get_string(hid_t object, const char* name);
[[nodiscard]] std::vector<std::string> get_strings(hid_t object, const char* name);
[[nodiscard]] bool has_attribute(hid_t object, const char* name);

enum class keep_values { in_header_if_small, apart };
/// A dataset written whole at once.
void write_dataset(hid_t parent, const std::string& path, hid_t type, std::span<const hsize_t> shape,
                   const void* values, keep_values where = keep_values::in_header_if_small);
void write_dataset(hid_t parent, const std::string& path, const std::vector<std::string>& values);

/// Creates a group without time stamps. `entries` is about how many things it will hold.
[[nodiscard]] group_handle create_group(hid_t parent, const std::string& name, size_t entries);
/// A link creation list for UTF-8 names, owned by the module.
[[nodiscard]] hid_t link_list();

}  // namespace halcyon::offload::hdf5
