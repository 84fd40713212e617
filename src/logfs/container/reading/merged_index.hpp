#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/extent_level.hpp"
#include "logfs/container/reading/index_image.hpp"
#include "logfs/container/reading/levels.hpp"
#include "logfs/container/reading/piece.hpp"
#include "logfs/container/reading/piece_collector.hpp"
#include "logfs/container/reading/run_level.hpp"
#include "logfs/container/reading/size_history.hpp"

namespace halcyon::logfs {

/// What all writers wrote, as patterns and extents, found by where it is in the file. Nothing is resolved before it is
/// asked for. What is added is put into levels: so adding a few costs little, and a lookup goes through few levels.
///
/// False where there is no memory.
class merged_index {
  public:
    merged_index(memory_source& memory, const dropping_table& writers);

    [[nodiscard]] bool add(uint32_t dropping, const run& what);
    [[nodiscard]] bool add_hole(uint32_t dropping, int64_t start, int64_t length, int64_t time_ns);
    /// The file ended at `size`; it reaches to `size` at least.
    [[nodiscard]] bool add_cut(uint32_t dropping, int64_t size, int64_t time_ns);
    [[nodiscard]] bool add_reach(uint32_t dropping, int64_t size, int64_t time_ns);
    /// What was added is put where it is found quickly.
    [[nodiscard]] bool settle();

    /// What overlaps the collector's range and can be seen there; of one run by where it starts. The pieces are good
    /// until something is added. False, too, where they are more than the collector takes.
    [[nodiscard]] bool collect(piece_collector& into);
    /// The first position, `position` or behind it, where something begins; INT64_MAX: nothing does.
    [[nodiscard]] int64_t next_start(int64_t position);
    /// The same of a run that is not here.
    [[nodiscard]] static int64_t next_start_of(const run& what, int64_t position);

    /// Where the file ends by what is here: by the latest cut and what is later.
    [[nodiscard]] int64_t size();
    /// How far a run reaches, of which only what is later than the latest cut counts.
    [[nodiscard]] int64_t end_after_cuts(uint32_t dropping, const run& what) const;

    [[nodiscard]] size_t patterns() const;
    [[nodiscard]] size_t extents() const;

    void save(image_writer& to);
    /// Into an empty one, of writers with numbers below `droppings`. False: it makes no sense, or there is no memory;
    /// then some of it may be there.
    [[nodiscard]] bool load(image_reader& from, uint32_t droppings);
    /// Something in the image is not as it was saved: what was returned since may be wrong, or missing.
    [[nodiscard]] bool is_damaged() const;
    /// Forgets all.
    void release();

  private:
    static constexpr size_t most_fresh = 48;
    /// Patterns of fewer elements are kept as extents.
    static constexpr int64_t least_elements = 5;

    [[nodiscard]] bool place(uint32_t dropping, const run& what);
    [[nodiscard]] bool add_single(uint32_t dropping, const run& what);
    [[nodiscard]] bool add_placed(const placed_run& what);
    [[nodiscard]] bool settle_runs();
    [[nodiscard]] bool settle_extents();
    [[nodiscard]] bool move_long_extents(page_array<extent>& from, int64_t& longest);
    [[nodiscard]] bool collect_cuts(piece_collector& into);
    void reach_to(int64_t end);
    void measure();
    [[nodiscard]] static bool load_runs(image_reader& from, uint32_t droppings, page_array<placed_run>& into);

    memory_source& memory_;
    page_array<placed_run> fresh_runs_;
    page_array<extent> fresh_extents_;
    levels<run_level> run_levels_;
    levels<extent_level> extent_levels_;
    size_history cuts_;
    size_history reaches_;
    int64_t latest_ns_ = 0;  // of all runs and reaches
    int64_t size_ = 0;
    bool is_measured_ = true;
};

}  // namespace halcyon::logfs
