#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "offload/store/contents/encoding.hpp"
#include "offload/store/contents/scratch.hpp"

namespace halcyon::offload {

/// Rounds values as encoding::precision says. Keeps its memory between calls.
class precision_reducer {
  public:
    /// `values`: whole elements of `how.type`, never modified. The result lives until the next call or, in full
    /// precision, as long as `values`.
    std::span<const std::byte> reduce(std::span<const std::byte> values, const encoding& how);

    /// Finite values that became infinite in half precision, since reset_count().
    [[nodiscard]] int64_t overflows() const { return overflows_; }
    void reset_count() { overflows_ = 0; }

  private:
    scratch reduced_;
    int64_t overflows_ = 0;
};

}  // namespace halcyon::offload
