#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "offload/store/hdf5/iteration_progress.hpp"
#include "offload/store/hdf5/published_files.hpp"
#include "offload/store/hdf5/view_plan.hpp"
#include "offload/store/hdf5/view_temporary.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// Keeps `<simulation>.h5` (virtual datasets) and `<simulation>.xmf` (XDMF for ParaView, where it has something to
/// draw) up to date.
///
/// When no iteration is complete yet, nothing is written and an older view stays. A published file that cannot be
/// read is left out and named in the view's attribute `unreadable_files`. Several processes may rebuild at once.
class hdf5_view final : public view_builder {
  public:
    hdf5_view(std::string directory, std::string simulation);
    result<int64_t> rebuild(std::span<const std::string> writers) override;
    [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }
    [[nodiscard]] int64_t ended_short() const override { return ended_short_; }

  private:
    [[nodiscard]] bool is_there() const;
    void follow(const published_files::news& news, std::span<const std::string> writers, bool same_writers);
    [[nodiscard]] bool shows_more(const published_files::news& news) const;
    int64_t publish();
    [[nodiscard]] std::vector<std::byte> read_coordinate(const view_variable& v);

    std::string directory_, simulation_;
    published_files files_;
    view_temporaries temporaries_;
    iteration_progress progress_;
    std::map<std::string, std::pair<std::string, std::vector<std::byte>>> coordinates_;  ///< by path: sources, values
    std::vector<std::string> last_writers_, remarks_;
    int64_t last_count_ = -1;
    int64_t ended_short_ = 0;
};

}  // namespace halcyon::offload::hdf5
