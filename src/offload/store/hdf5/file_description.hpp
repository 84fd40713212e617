#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "offload/store/hdf5/chunk_encoder.hpp"
#include "offload/store/hdf5/handle.hpp"
#include "offload/store/hdf5/types.hpp"
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

[[nodiscard]] attribute_list attributes_of(const file_job& job);
/// Iterations, missing blocks and meshes, into the group `own`.
void write_tables(hid_t own, const file_job& job);
/// Of a variable's group.
[[nodiscard]] attribute_list attributes_of(const model& m, const variable& v);
/// Of a mesh's group.
[[nodiscard]] attribute_list attributes_of(const mesh& m);
/// Of a dataset: who wrote its blocks (-1: several), where they lie, which of its rows hold one.
[[nodiscard]] attribute_list attributes_of_dataset(int32_t rank, int32_t block, const block_shape& shape,
                                                   const std::vector<int64_t>& present, int64_t rows);
/// A dataset creation list without time stamps, with room for the attributes and the fill value.
[[nodiscard]] list_handle plain_creation_list(const encoding& how);

}  // namespace halcyon::offload::hdf5
