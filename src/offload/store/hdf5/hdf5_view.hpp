#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "offload/store/hdf5/published_file.hpp"
#include "offload/store/hdf5/view_plan.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// Keeps `<simulation>.h5` (virtual datasets) and `<simulation>.xmf` (XDMF for ParaView) up to date.
///
/// When no iteration is complete yet, nothing is written and an older view stays. A published file that cannot be
/// read is left out and named in the view's attribute `unreadable_files`. Several processes may rebuild at once.
class hdf5_view final : public view_builder {
  public:
    hdf5_view(std::string directory, std::string simulation);
    result<int64_t> rebuild(std::span<const std::string> writers) override;
    [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }

  private:
    /// What tells one state of a file from another.
    struct file_state {
        uint64_t device = 0, inode = 0;
        int64_t modified_ns = 0, size = 0;
        friend bool operator==(const file_state&, const file_state&) = default;
    };
    struct known_file {
        file_state state;
        std::shared_ptr<const published_file> contents;  ///< null: unreadable in this state
    };

    /// Reads what is new in the directory. True when anything changed.
    bool scan();
    void forget_stale_temporaries(const std::string& name) const;
    [[nodiscard]] std::shared_ptr<const published_file> read(const std::string& name, const published_name& parsed);
    int64_t publish(std::span<const std::string> writers);
    [[nodiscard]] std::vector<std::byte> read_coordinate(const view_variable& v);
    [[nodiscard]] std::string temporary(const std::string& suffix) const;

    std::string directory_, simulation_, host_;
    std::map<std::string, known_file> files_;
    std::map<std::string, std::shared_ptr<const file_layout>> newest_layout_;            ///< by writer
    std::map<std::string, std::pair<std::string, std::vector<std::byte>>> coordinates_;  ///< by path: sources, values
    std::vector<std::string> last_writers_, remarks_;
    int64_t last_count_ = -1;
};

}  // namespace halcyon::offload::hdf5
