#include "hdf5_reading.hpp"

#include <hdf5_hl.h>

#include "job_builder.hpp"
#include "offload/store/hdf5/handle.hpp"
#include "offload/store/hdf5/types.hpp"
#include "offload/store/hdf5/zstd_filter.hpp"

namespace halcyon::offload::testing {
namespace {

using namespace hdf5;

file_handle open_file(const std::string& path) {
    register_zstd_filter();
    return file_handle{check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), path)};
}

std::vector<int64_t> shape_of(hid_t dataset) {
    const space_handle space{H5Dget_space(dataset)};
    std::vector<hsize_t> shape(static_cast<size_t>(H5Sget_simple_extent_ndims(space.get())));
    H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
    return {shape.begin(), shape.end()};
}

std::vector<int64_t> iterations_of(hid_t file) {
    const dataset_handle dataset{check(H5Dopen2(file, "/.halcyon/iterations", H5P_DEFAULT), "iterations")};
    std::vector<int64_t> list(static_cast<size_t>(shape_of(dataset.get())[0]));
    check(H5Dread(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data()), "iterations");
    return list;
}

struct walk {
    hid_t file;
    std::vector<int64_t> iterations;
    contents all;
};

void take_dataset(walk& w, const std::string& path) {
    const dataset_handle dataset{check(H5Dopen2(w.file, path.c_str(), H5P_DEFAULT), path)};
    const size_t slash = path.rfind('/');
    const std::string variable = path.substr(0, slash);
    const group_handle group{check(H5Gopen2(w.file, variable.c_str(), H5P_DEFAULT), variable)};
    const scalar_type type = scalar_type_of(get_string(group.get(), "type"));
    const int64_t domain = std::stoll(path.substr(slash + 2));
    std::vector<int64_t> shape = shape_of(dataset.get());
    const auto rows = static_cast<size_t>(shape[0]);
    std::vector<int64_t> present = counting<int64_t>(rows);
    if (has_attribute(dataset.get(), "rows")) present = get_integers(dataset.get(), "rows");
    shape.erase(shape.begin());
    size_t row_bytes = static_cast<size_t>(size_of(type));
    for (const int64_t n : shape) row_bytes *= static_cast<size_t>(n);
    std::vector<std::byte> bytes(rows * row_bytes);
    check(H5Dread(dataset.get(), type_of(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), path);
    for (const int64_t row : present) {
        const auto* begin = bytes.data() + static_cast<size_t>(row) * row_bytes;
        w.all[{variable, domain, w.iterations[static_cast<size_t>(row)]}] = {shape, {begin, begin + row_bytes}};
    }
}

herr_t visit(hid_t /*file*/, const char* name, const H5O_info_t* info, void* context) {
    auto& w = *static_cast<walk*>(context);
    if (info->type == H5O_TYPE_DATASET && std::string(name).rfind(".halcyon/", 0) != 0) take_dataset(w, name);
    return 0;
}

object_handle open_object(hid_t file, const std::string& name) {
    return object_handle{check(H5Oopen(file, name.c_str(), H5P_DEFAULT), name)};
}

}  // namespace

contents read_hdf5(const std::string& path) {
    const silence quiet;
    const file_handle file = open_file(path);
    walk w{file.get(), iterations_of(file.get()), {}};
    check(H5Ovisit(file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, visit, &w), path);
    return w.all;
}

std::vector<double> numbers(const std::string& path, const std::string& name) {
    const silence quiet;
    const file_handle file = open_file(path);
    const dataset_handle dataset{check(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), name)};
    size_t count = 1;
    for (const int64_t n : shape_of(dataset.get())) count *= static_cast<size_t>(n);
    std::vector<double> values(count);
    check(H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
    return values;
}

std::vector<int64_t> shape_of_dataset(const std::string& path, const std::string& name) {
    const file_handle file = open_file(path);
    const dataset_handle dataset{check(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), name)};
    return shape_of(dataset.get());
}

std::vector<int64_t> chunk_of_dataset(const std::string& path, const std::string& name) {
    const file_handle file = open_file(path);
    const dataset_handle dataset{check(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), name)};
    const list_handle list{H5Dget_create_plist(dataset.get())};
    std::vector<hsize_t> chunk(shape_of(dataset.get()).size());
    check(H5Pget_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()), name);
    return {chunk.begin(), chunk.end()};
}

std::vector<int64_t> integers(const std::string& path, const std::string& object, const std::string& attribute) {
    const silence quiet;
    const file_handle file = open_file(path);
    return get_integers(open_object(file.get(), object).get(), attribute.c_str());
}

std::vector<std::string> texts(const std::string& path, const std::string& object, const std::string& attribute) {
    const silence quiet;
    const file_handle file = open_file(path);
    return get_strings(open_object(file.get(), object).get(), attribute.c_str());
}

bool is_dimension_scale(const std::string& path, const std::string& dataset) {
    const file_handle file = open_file(path);
    return H5DSis_scale(open_object(file.get(), dataset).get()) > 0;
}

bool exists(const std::string& path, const std::string& object) {
    const file_handle file = open_file(path);
    const silence quiet;
    const object_handle opened{H5Oopen(file.get(), object.c_str(), H5P_DEFAULT)};
    return opened.get() >= 0;
}

}  // namespace halcyon::offload::testing
