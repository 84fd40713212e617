#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "offload/store/store.hpp"

namespace halcyon::offload::testing {

/// Builds a model by hand and jobs over it; owns the blocks' bytes. Not to be moved: views point into it.
class job_builder {
  public:
    explicit job_builder(std::string simulation = "sim") {
        model_.simulation = std::move(simulation);
        target_.name = "main";
    }
    job_builder(const job_builder&) = delete;
    job_builder& operator=(const job_builder&) = delete;

    [[nodiscard]] model& data() { return model_; }
    [[nodiscard]] store& target() { return target_; }

    /// References stay valid; the variable gets a layout of its own.
    variable& add_variable(const std::string& name, scalar_type type) {
        layout own;
        own.name = name + " layout";
        own.type = type;
        model_.layouts.push_back(own);
        auto v = std::make_unique<variable>();
        v->name = name;
        v->layout_id = static_cast<uint32_t>(model_.layouts.size() - 1);
        v->id = static_cast<uint32_t>(variables_.size());
        v->store = "main";
        variables_.push_back(std::move(v));
        return *variables_.back();
    }

    [[nodiscard]] const variable& variable_at(size_t id) const { return *variables_.at(id); }

    uint32_t add_place(const std::string& name) {
        place whole;
        whole.name = name;
        model_.places.push_back(whole);
        return static_cast<uint32_t>(model_.places.size() - 1);
    }

    uint32_t add_mesh(mesh m) {
        model_.meshes.push_back(std::move(m));
        return static_cast<uint32_t>(model_.meshes.size() - 1);
    }

    /// Adds a block. `global` and `offset` empty: the block is the whole.
    template <class T>
    block_view& add_block(const variable& v, int64_t iteration, int rank, const extents& dimensions,
                          const std::vector<T>& values, const extents& global = {}, const extents& offset = {},
                          const extents& before = {}, const extents& after = {}) {
        // operator new aligns for every scalar type.
        bytes_.emplace_back(values.size() * sizeof(T));
        if (!values.empty()) std::memcpy(bytes_.back().data(), values.data(), bytes_.back().size());
        block_view block;
        block.var = &v;
        block.iteration = iteration;
        block.rank = rank;
        block.shape.dimensions = dimensions;
        block.shape.ghost_before = or_zeros(before, dimensions);
        block.shape.ghost_after = or_zeros(after, dimensions);
        block.shape.offset = or_zeros(offset, dimensions);
        block.shape.global = global;
        if (global.rank == 0) {
            for (int d = 0; d < dimensions.rank; ++d) {
                block.shape.global.push_back(dimensions[d] - block.shape.ghost_before[d] - block.shape.ghost_after[d]);
            }
        }
        block.shape.bytes = static_cast<int64_t>(bytes_.back().size());
        block.data = bytes_.back();
        blocks_.push_back(block);
        return blocks_.back();
    }

    /// A block of the builder that is not the caller's any more.
    void clear_blocks() {
        blocks_.clear();
        bytes_.clear();
    }

    [[nodiscard]] file_job job(std::string path, std::vector<int64_t> iterations, const std::string& writer = "n0000",
                               int part = 0) {
        model_.variables.clear();
        for (const auto& v : variables_) model_.variables.push_back(*v);
        file_job made;
        made.data = &model_;
        made.target = &target_;
        made.path = std::move(path);
        made.writer = writer;
        made.iterations = std::move(iterations);
        made.blocks.assign(blocks_.begin(), blocks_.end());
        made.part = part;
        return made;
    }

  private:
    static extents or_zeros(const extents& given, const extents& like) {
        if (given.rank != 0) return given;
        extents zeros;
        for (int d = 0; d < like.rank; ++d) zeros.push_back(0);
        return zeros;
    }

    model model_;
    store target_;
    std::vector<std::unique_ptr<variable>> variables_;
    std::deque<std::vector<std::byte>> bytes_;
    std::deque<block_view> blocks_;
};

/// first, first + step, …
template <class T>
std::vector<T> counting(size_t count, T first = 0, T step = 1) {
    std::vector<T> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(first + static_cast<T>(i) * step);
    return values;
}

}  // namespace halcyon::offload::testing
