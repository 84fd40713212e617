#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "offload/model/model.hpp"

/// Names in data files, whatever their format; docs/store.md describes them for readers.
namespace halcyon::offload {

/// Everything that is not a variable lies in this group; no variable's name may begin with it.
inline constexpr const char* reserved_group = reserved_name;

inline constexpr const char* format_name = "halcyon";
inline constexpr int64_t format_version = 1;

/// Name of the dataset of a domain: "d000003"; "d000003.1" when the block's shape or place changed inside the file. Of
/// shared_dataset::whole: "whole", "whole.1".
[[nodiscard]] std::string domain_name(int64_t domain, int variant);

/// Success when `name` can be a path of groups: valid UTF-8, '/' between components, none of them empty, "." or "..",
/// the first one not ".halcyon".
[[nodiscard]] result<void> check_name(const std::string& name);

}  // namespace halcyon::offload
