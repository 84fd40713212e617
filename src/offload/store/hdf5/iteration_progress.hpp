#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "offload/store/hdf5/published_file.hpp"

namespace halcyon::offload::hdf5 {

/// Which iterations are published: those of which every one of the writers has a file of part 0 (no writers given:
/// those of which any has). Early parts come before the rest of their iteration, so part 0 says it all.
class iteration_progress {
  public:
    explicit iteration_progress(std::span<const std::string> writers = {}) : needed_(writers.begin(), writers.end()) {}

    void add(const published_file& file);
    [[nodiscard]] bool is_published(int64_t iteration) const;
    /// Ascending.
    [[nodiscard]] std::vector<int64_t> published() const;

    /// A writer that published nothing from an iteration on that others published.
    struct early_end {
        std::string writer;
        int64_t last = 0;
    };
    /// With no writers given: those that ended before others of their kind did. Where nodes and clients both wrote, a
    /// lost server's clients went on in its place, and nobody is named.
    [[nodiscard]] std::vector<early_end> early_ends() const;

  private:
    [[nodiscard]] bool is_enough(const std::set<std::string>& writers) const {
        return needed_.empty() || writers.size() == needed_.size();
    }

    std::set<std::string> needed_;
    std::map<int64_t, std::set<std::string>> seen_;
    std::map<std::string, int64_t> last_of_;  ///< by writer; without files of all servers
};

}  // namespace halcyon::offload::hdf5
