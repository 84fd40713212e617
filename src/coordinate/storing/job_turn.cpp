#include "coordinate/storing/job_turn.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/node_identity.hpp"
#include "base/replace_file.hpp"
#include "coordinate/page/agent_ring.hpp"
#include "coordinate/page/mount_of.hpp"
#include "coordinate/page/process_facts.hpp"

namespace halcyon::coordinate {
namespace {

constexpr size_t longest_path = 4096;

}  // namespace

class job_turn::coordinated_stay final : public stay {
  public:
    coordinated_stay(job_turn& of, place& at, int64_t bytes) : of_(of), at_(at), bytes_(bytes) {
        of_.begin_file();
        at_.mount.expect(bytes_);
        take(0);
    }
    ~coordinated_stay() override {
        at_.mount.give(piece_, how_);
        at_.mount.expect(-std::max<int64_t>(bytes_ - moved_, 0));
        of_.end_file();
    }
    coordinated_stay(const coordinated_stay&) = delete;
    coordinated_stay& operator=(const coordinated_stay&) = delete;

    void next(int64_t bytes) override {
        at_.mount.give(piece_, how_);
        take(bytes);
        moved_ += bytes;
        if (how_ != passage::under_lease) unasked_ += bytes;
    }
    [[nodiscard]] int64_t waited_ns() const override { return waited_ns_; }
    [[nodiscard]] int64_t unasked_bytes() const override { return unasked_; }

  private:
    void take(int64_t bytes) {
        how_ = at_.mount.take(bytes, waited_ns_);
        piece_ = bytes;
        of_.note(at_, how_);
    }

    job_turn& of_;
    place& at_;
    int64_t bytes_;
    int64_t waited_ns_ = 0;  ///< the whole file no longer than any call may
    int64_t piece_ = 0;
    passage how_ = passage::under_lease;
    int64_t moved_ = 0;
    int64_t unasked_ = 0;
};

job_turn::job_turn(page& shared, process_slot& slot, const std::string& facts) : shared_(shared), slot_(slot) {
    std::array<char, longest_path> path{};
    const bool fits = process_facts::name_file(path.data(), path.size(), facts, host_name().c_str(), slot.owner.load());
    if (!facts.empty() && fits) facts_path_ = path.data();
    for (size_t i = 0; i < shared_.known_file_systems(); ++i)
        places_.push_back(std::make_unique<place>(shared_, slot_, i));
    slot_.told.store(1, std::memory_order_release);  // there is nothing to tell yet
    ring_agent(shared_);
}

/// Null: the directory lies at none.
job_turn::place* job_turn::find(const std::string& directory) {
    std::error_code none;
    const size_t at = mount_of(shared_, std::filesystem::weakly_canonical(directory, none).string());
    return at < places_.size() ? places_[at].get() : nullptr;
}

std::unique_ptr<turn::stay> job_turn::begin(const std::string& directory, int64_t bytes) {
    if (place* const at = find(directory)) return std::make_unique<coordinated_stay>(*this, *at, bytes);
    std::string known;
    for (const auto& one : places_) known += (known.empty() ? "" : ", ") + one->path;
    const std::lock_guard lock(remarking_);
    remark_once("turns: coordinator: files in " + directory +
                " are stored without turns, since no coordinator is named for that path; coordinated are: " + known);
    return std::make_unique<turns_not_taken::unasked_stay>();
}

void job_turn::note(place& at, passage how) {
    const std::lock_guard lock(remarking_);
    switch (how) {
        case passage::under_lease:
            if (std::exchange(at.silent, false))
                remarks_.push_back("the coordinator of " + at.path + " answers again: files are stored in turn");
            return;
        case passage::unasked:
            if (!std::exchange(at.silent, true))
                remarks_.push_back("the coordinator of " + at.path +
                                   " does not answer: until it does, files are stored without their turn");
            return;
        case passage::starving:
            return remark_once("a file waited for its turn at " + at.path +
                               " for as long as any may, and was stored without it");
        case passage::needed:  // nobody waits for a piece
            return;
        case passage::locked:
            return remark_once("a file was stored at " + at.path +
                               " without its turn, since a process of the job on this node held a file lock");
    }
}

/// While a file is stored, the facts are those of the file before: should the process die, its agent tells of it.
void job_turn::begin_file() {
    const std::lock_guard lock(telling_);
    if (files_++ == 0) slot_.told.store(0, std::memory_order_release);
}

/// Facts are told after each file: who reads them does not wait for the end of this process.
void job_turn::end_file() {
    const std::lock_guard lock(telling_);
    if (--files_ > 0) return;
    write_facts();
    slot_.told.store(1, std::memory_order_release);
    ring_agent(shared_);
}

void job_turn::write_facts() {
    if (facts_path_.empty()) return;
    std::array<char, process_facts::longest_text> text{};
    const size_t used = process_facts::describe(text.data(), text.size(), shared_, places_.size(), slot_, "stored");
    const auto written = replace_file(facts_path_, {text.data(), used});
    if (written) return;
    const std::lock_guard lock(remarking_);
    remark_once("how files waited for their turn is not told to `halcyon run`: " + written.why().message);
}

void job_turn::remark_once(const std::string& text) {
    if (said_.insert(text).second) remarks_.push_back(text);
}

std::vector<std::string> job_turn::take_remarks() {
    const std::lock_guard lock(remarking_);
    return std::exchange(remarks_, {});
}

}  // namespace halcyon::coordinate
