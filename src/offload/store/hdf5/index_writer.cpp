#include "offload/store/hdf5/index_writer.hpp"

#include <string>

#include "offload/store/hdf5/types.hpp"

namespace halcyon::offload::hdf5 {
namespace {

void create_parents(hid_t own, const std::string& path) {
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        const std::string parent = path.substr(0, slash);
        if (check(H5Lexists(own, parent.c_str(), H5P_DEFAULT), parent) == 0)
            static_cast<void>(create_group(own, parent, 4));
    }
}

}  // namespace

void write_index(hid_t own, const std::vector<variable_index>& index) {
    for (const variable_index& one : index) {
        const std::string path = "index/" + one.variable + "/min_max";
        create_parents(own, path);
        const hsize_t shape[] = {one.rows, one.datasets.size(), 3};
        write_dataset(own, path, H5T_NATIVE_DOUBLE, shape, one.table.data());
        const object_handle dataset{check(H5Oopen(own, path.c_str(), H5P_DEFAULT), path)};
        set_attribute(dataset.get(), "datasets", one.datasets);
        set_attribute(dataset.get(), "columns", std::vector<std::string>{"min", "max", "nan_count"});
    }
}

}  // namespace halcyon::offload::hdf5
