#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/turn.hpp"
#include "coordinate/page/page.hpp"
#include "coordinate/storing/mount_turn.hpp"

namespace halcyon::coordinate {

/// The turn of a program that stores for its job: that of the application among all that use the file system. It
/// announces the bytes of each file before it stores it, and gives the turn back between two pieces when the
/// coordinator asks for it. Where nobody answers, or the wait has taken shared_file_system::starvation_ns, the file is
/// stored all the same: counted, and said in a remark.
class job_turn final : public turn {
  public:
    /// `facts`: the folder of the process' file of facts (page/process_facts.hpp); "": nowhere. Page and place in it
    /// outlive this.
    job_turn(page& shared, process_slot& slot, const std::string& facts);

    /// Who must come later is told by the coordinator, in begin().
    [[nodiscard]] int64_t delay_ns(int64_t /*iteration_ns*/) const override { return 0; }
    [[nodiscard]] std::unique_ptr<stay> begin(const std::string& directory, int64_t bytes) override;
    [[nodiscard]] std::vector<std::string> take_remarks() override;

  private:
    class coordinated_stay;
    struct place {
        place(page& shared, process_slot& slot, size_t at)
            : mount(shared, slot, at), path(shared.file_system[at].mount()) {}

        mount_turn mount;
        std::string path;
        bool silent = false;  ///< under remarking_
    };

    [[nodiscard]] place* find(const std::string& directory);
    void note(place& at, passage how);
    void remark_once(const std::string& text);
    void begin_file();
    void end_file();
    void write_facts();

    page& shared_;
    process_slot& slot_;
    std::vector<std::unique_ptr<place>> places_;
    std::mutex remarking_;  ///< of all below
    std::vector<std::string> remarks_;
    std::set<std::string> said_;
    std::mutex telling_;      ///< of those below
    std::string facts_path_;  ///< "": none
    int files_ = 0;           ///< that are being stored
};

}  // namespace halcyon::coordinate
