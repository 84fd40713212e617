#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "offload/store/hdf5/chunk_encoder.hpp"
#include "offload/store/hdf5/handle.hpp"
#include "offload/store/store.hpp"

/// What a data file says beside its values: the same whether one server writes it or all fill it together.
namespace halcyon::offload::hdf5 {

/// The file's groups, each created when it is first needed and kept open.
class group_tree {
  public:
    /// `datasets`: the variable of each dataset that the file will hold.
    group_tree(hid_t file, std::span<const std::string> datasets);

    /// The group at "/a/b".
    hid_t open(const std::string& path);

  private:
    hid_t file_;
    std::map<std::string, size_t> entries_;
    std::map<std::string, group_handle> open_;
};

/// The attributes of the file.
void describe_file(hid_t file, const file_job& job);
/// Iterations, missing blocks and meshes, into the group `own`.
void write_tables(hid_t own, const file_job& job);
/// The attributes of a variable's group.
void describe_variable(hid_t group, const model& m, const variable& v);
/// The attributes of a dataset: who wrote its blocks (-1: several), where they lie, which of its rows hold one.
void describe_dataset(hid_t dataset, int32_t rank, int32_t block, const block_shape& shape,
                      std::span<const int64_t> present, int64_t rows);
/// A dataset creation list without time stamps, with room for the attributes and the fill value.
[[nodiscard]] list_handle plain_creation_list(const encoding& how);

}  // namespace halcyon::offload::hdf5
