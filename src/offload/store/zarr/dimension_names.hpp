#pragma once

#include <span>
#include <string>
#include <vector>

#include "offload/store/contents/domain_rows.hpp"

namespace halcyon::offload::zarr {

/// Names for the dimensions of the arrays of one variable in one data file: "iteration", then the coordinates of its
/// rectilinear mesh or, without such, "dim_0", "dim_1", …. Where the arrays differ in a dimension's extent, the extent
/// follows the name ("y_16"): to xarray, equal names in one group are one dimension.
class dimension_names {
  public:
    /// `arrays`: all of one variable.
    dimension_names(const model& m, std::span<const domain_rows> arrays);

    [[nodiscard]] std::vector<std::string> of(const domain_rows& array) const;

  private:
    std::vector<std::string> names_;  ///< without "iteration"
    std::vector<bool> varies_;
};

}  // namespace halcyon::offload::zarr
