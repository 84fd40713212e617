#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/index_image.hpp"

namespace halcyon::logfs {

/// Changes of a file's size of one kind, by time. Those that a later one leaves without effect are forgotten: so of the
/// cuts that remain a later one is a cut to more, of the reaches to less.
///
/// Changes that are added in their order cost little each; what came out of order is sorted by settle().
class size_history {
  public:
    struct change {
        int64_t size;
        int64_t time_ns;
        uint32_t dropping;
    };
    static_assert(has_copied_layout<change, 24, 8>());
    enum class kind : uint8_t {
        cut,    ///< to a size; a later cut to no more is all that counts
        reach,  ///< of at least a size; a later reach to no less is all that counts
    };

    size_history(memory_source& memory, const dropping_table& writers, kind of)
        : changes_(memory), writers_(writers), kind_(of) {}

    /// False: no memory.
    [[nodiscard]] bool add(const change& what);
    void settle();

    void save(image_writer& to);
    /// Of writers with numbers below `droppings`. False: it makes no sense, or there is no memory.
    [[nodiscard]] bool load(image_reader& from, uint32_t droppings);
    /// Forgets all.
    void release();

    [[nodiscard]] bool empty() const { return changes_.empty(); }
    [[nodiscard]] const change& latest() const { return latest_; }

    /// Only after settle().
    [[nodiscard]] size_t size() const { return changes_.size(); }
    [[nodiscard]] const change* begin() const { return changes_.begin(); }
    [[nodiscard]] const change* end() const { return changes_.end(); }

    /// Whether a write came after a change.
    [[nodiscard]] bool is_after(int64_t time_ns, uint32_t dropping, const change& of) const {
        if (time_ns != of.time_ns) return time_ns > of.time_ns;
        return dropping != of.dropping && writers_.is_later_of_same_time(dropping, of.dropping);
    }

  private:
    [[nodiscard]] bool replaces(const change& later, const change& earlier) const {
        return kind_ == kind::cut ? later.size <= earlier.size : later.size >= earlier.size;
    }

    page_array<change> changes_;
    size_t settled_ = 0;  // so many in front are in order, and none is without effect
    change latest_{};
    const dropping_table& writers_;
    kind kind_;
};

}  // namespace halcyon::logfs
