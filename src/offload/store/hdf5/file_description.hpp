#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "offload/store/contents/description.hpp"
#include "offload/store/contents/encoding.hpp"
#include "offload/store/hdf5/handle.hpp"
#include "offload/store/hdf5/types.hpp"
#include "offload/store/store.hpp"

/// Writes what a data file says beside its values (contents/description.hpp): the same whether one server writes it or
/// all fill it together.
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

/// Iterations, missing blocks and meshes, into the group `own`.
void write_tables(hid_t own, const file_job& job);
/// A dataset creation list without time stamps, with room for the attributes and the fill value.
[[nodiscard]] list_handle plain_creation_list(const encoding& how);

}  // namespace halcyon::offload::hdf5
