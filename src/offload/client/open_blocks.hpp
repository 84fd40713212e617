#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "offload/client/place_in_job.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// Aligned as blocks in the segment are; null when there is no memory.
struct free_block_memory {
    void operator()(std::byte* memory) const;
};
using block_memory = std::unique_ptr<std::byte, free_block_memory>;
block_memory take_block_memory(uint64_t bytes);

/// A client's view of one block of a variable.
struct open_block {
    static constexpr uint32_t no_entry = UINT32_MAX;

    enum class where { nowhere, in_segment, in_process } location = where::nowhere;
    uint32_t entry = no_entry;  ///< in_segment: index in the block table
    bool committed = false;
    int64_t written_in = -1;  ///< last iteration in which it was written or committed
    block_memory memory;      ///< in_process (policies skip and inline, and inline sessions)
    block_shape shape;        ///< evaluated for `shape_version`
    uint64_t shape_version = 0;

    [[nodiscard]] bool is_allocated() const { return location != where::nowhere; }
    /// The simulation has given the block up.
    void close();
};

/// The blocks of all variables by name, with their shapes as the parameters are now. Nothing is allocated after
/// construction, but what shapes with new parameters need.
class open_blocks {
  public:
    /// set_parameter() changes `data`.
    open_blocks(model& data, place_in_job where);

    struct found {
        open_block* state;
        const variable* of;
        int block;
    };
    /// Failure (usage): no such variable or block.
    result<found> find(std::string_view name, int block);
    /// The same block. Failure (usage): alloc was not called.
    static result<found> allocated(const found& b);
    [[nodiscard]] open_block& of(const variable& v, int block) {
        return blocks_[first_block_[v.id] + static_cast<uint32_t>(block)];
    }
    /// Evaluates the shape if parameters have changed since.
    result<void> evaluate(const found& b);
    result<void> set_parameter(std::string_view name, double value);

  private:
    model& model_;
    place_in_job where_;
    std::unordered_map<std::string_view, uint32_t> variable_ids_;
    std::vector<uint32_t> first_block_;  ///< as first_blocks(), which is the order of blocks_
    std::vector<open_block> blocks_;
    uint64_t parameter_version_ = 1;
};

}  // namespace halcyon::offload
