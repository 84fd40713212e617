#include "offload/client/open_blocks.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "offload/client/known_names.hpp"
#include "offload/client/usage.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

void free_block_memory::operator()(std::byte* memory) const {
    ::operator delete (memory, std::align_val_t{block_alignment});
}

block_memory take_block_memory(uint64_t bytes) {
    void* memory = ::operator new (std::max<uint64_t>(bytes, 1), std::align_val_t{block_alignment}, std::nothrow);
    return block_memory(static_cast<std::byte*>(memory));
}

void open_block::close() {
    memory.reset();
    location = where::nowhere;
    entry = no_entry;
    committed = false;
}

open_blocks::open_blocks(model& data, place_in_job where)
    : model_(data), where_(where), first_block_(first_blocks(data)), blocks_(first_block_.back()) {
    for (const variable& v : model_.variables) variable_ids_.emplace(v.name, v.id);
}

result<open_blocks::found> open_blocks::find(std::string_view name, int block) {
    const auto known = variable_ids_.find(name);
    if (known == variable_ids_.end())
        return usage("no variable '" + std::string(name) + "' in the configuration" + known_names(model_.variables));
    const variable& v = model_.variables[known->second];
    if (block < 0 || block >= v.blocks_per_client)
        return usage("variable '" + v.name + "' has blocks 0 to " + std::to_string(v.blocks_per_client - 1) +
                     " on each client, not " + std::to_string(block) + "; see blocks-per-client");
    return found{&of(v, block), &v, block};
}

result<open_blocks::found> open_blocks::allocated(const found& b) {
    if (!b.state->is_allocated())
        return usage("variable " + block_name(*b.of, b.block) + " is not allocated; call alloc first");
    return b;
}

result<void> open_blocks::evaluate(const found& b) {
    if (b.state->shape_version == parameter_version_) return {};
    auto shape = shape_of(model_, *b.of, {where_.rank, where_.size, b.block});
    if (!shape) return shape.why();
    b.state->shape = *shape;
    b.state->shape_version = parameter_version_;
    return {};
}

result<void> open_blocks::set_parameter(std::string_view name, double value) {
    if (auto set = model_.set_parameter(name, value); !set) return set;
    ++parameter_version_;
    return {};
}

}  // namespace halcyon::offload
