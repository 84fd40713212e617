#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "contents.hpp"

namespace halcyon::offload::testing {

/// Reads a file of the HDF5 store with HDF5's own C interface.
contents read_hdf5(const std::string& path);

/// The elements of a dataset, converted to doubles; an empty list and a failed test when it is not there.
std::vector<double> numbers(const std::string& path, const std::string& dataset);
std::vector<int64_t> shape_of_dataset(const std::string& path, const std::string& dataset);
std::vector<int64_t> chunk_of_dataset(const std::string& path, const std::string& dataset);
std::vector<int64_t> integers(const std::string& path, const std::string& object, const std::string& attribute);
std::vector<std::string> texts(const std::string& path, const std::string& object, const std::string& attribute);
bool is_dimension_scale(const std::string& path, const std::string& dataset);
bool exists(const std::string& path, const std::string& object);

}  // namespace halcyon::offload::testing
