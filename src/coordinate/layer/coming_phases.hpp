#pragma once

#include <cstddef>
#include <cstdint>

#include "base/coming_io.hpp"
#include "coordinate/layer/file_mounts.hpp"
#include "coordinate/page/phase_forecast.hpp"

namespace halcyon::coordinate {

/// What a forecast of a process means for one file system: the accesses there, cut into phases where none moves bytes
/// for longer than the page's pause.
///
/// Accesses whose file is not known count where phases begin now.
class coming_phases {
  public:
    coming_phases(const coming_io::forecast& coming, const file_mounts& files, int64_t pause_ns)
        : coming_(coming), files_(files), pause_ns_(pause_ns) {}

    /// `begins`: a phase has begun there, of which no call was learnt yet: the next access is its first one, whenever
    /// that was expected. `unknown_files`: those count there.
    struct said {
        phase_forecast what = {};
        bool complete = false;  ///< the end of the phase is within the forecast
        bool next_complete = false;
        bool endless = false;    ///< as far as anybody looked, the phase goes on
        double ns_per_byte = 0;  ///< without others, in phases; 0: not known
        double confidence = 0;   ///< in the begins of phases
    };
    [[nodiscard]] said at(size_t file_system, bool begins, bool unknown_files) const;

  private:
    /// A phase, from the moment of the forecast.
    struct part {
        int64_t begins_ns = 0;
        int64_t ends_ns = 0;
        int64_t bytes = 0;
        bool any = false;

        void add(const coming_io::access& one);
    };
    struct course {
        part phases[2];
        bool complete[2] = {};  ///< a pause comes behind
    };
    [[nodiscard]] bool is_at(const coming_io::access& one, size_t file_system, bool unknown_files) const;
    [[nodiscard]] course course_at(size_t file_system, bool begins, bool unknown_files) const;

    const coming_io::forecast& coming_;
    const file_mounts& files_;
    int64_t pause_ns_;
};

}  // namespace halcyon::coordinate
