#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/dropping_table.hpp"

namespace halcyon::logfs {

/// The droppings with runs that may go on, and how far these reach: of many thousands, most do not concern a read.
class live_runs {
  public:
    struct place {
        int64_t low;
        int64_t high;
        uint32_t dropping;
    };

    explicit live_runs(memory_source& memory) : places_(memory) {}

    /// Takes the runs of a dropping as they are now. False: no memory.
    [[nodiscard]] bool note(dropping_table& writers, uint32_t number) {
        dropping& of = writers[number];
        if (of.live_runs == 0) {
            if (of.live_place == none) return true;
            places_[of.live_place] = places_.back();
            writers[places_.back().dropping].live_place = of.live_place;
            places_.pop();
            of.live_place = none;
            return true;
        }
        place now{of.live[0].low(), of.live[0].high(), number};
        if (of.live_runs > 1) {
            now.low = std::min(now.low, of.live[1].low());
            now.high = std::max(now.high, of.live[1].high());
        }
        if (of.live_place != none) {
            places_[of.live_place] = now;
            return true;
        }
        if (!places_.push(now)) return false;
        of.live_place = static_cast<uint32_t>(places_.size() - 1);
        return true;
    }

    void clear() { places_.clear(); }

    [[nodiscard]] const place* begin() const { return places_.begin(); }
    [[nodiscard]] const place* end() const { return places_.end(); }

  private:
    static constexpr uint32_t none = UINT32_MAX;

    page_array<place> places_;
};

}  // namespace halcyon::logfs
