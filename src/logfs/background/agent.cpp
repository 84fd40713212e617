#include "logfs/background/agent.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/node_identity.hpp"
#include "base/replace_file.hpp"
#include "logfs/background/attended_container.hpp"
#include "logfs/background/find_containers.hpp"
#include "logfs/background/pace.hpp"
#include "logfs/background/paced_work.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/space/own_space.hpp"
#include "logfs/container/tools/conflict_words.hpp"
#include "logfs/container/tools/punch.hpp"

namespace halcyon::logfs {
namespace {

/// Of those that are left alone, the file that says why names so many.
constexpr size_t most_told = 1000;

/// One of the things that an agent does with a container.
struct task {
    attended_container state;
    bool waits = false;  ///< it may become possible without anybody's doing

    void done() { *this = {}; }
    void failed(const failure& why, bool is_waited_for) {
        waits = is_waited_for;
        state.put_off(monotonic_ns(), why.message);
    }
};

class agent {
  public:
    agent(const agent_settings& how, watched_job& job, turn& turns)
        : how_(how), job_(job), turns_(turns), pace_(turns, how.bytes_per_s) {}

    agent_report work() {
        int64_t worked_ns = monotonic_ns();
        for (;;) {
            // What happens between this and the round is seen by the next one.
            const bool is_over = job_.has_ended();
            const int64_t begin_ns = monotonic_ns();
            const bool has_done_something = round(is_over);
            say_what_is_left();
            const int64_t now_ns = monotonic_ns();
            if (has_done_something || !is_over) worked_ns = now_ns;
            const bool is_patient = waits() && now_ns - worked_ns <= how_.patience_ns;
            if (is_over && !has_done_something && !is_patient && may_end()) break;
            if (job_.wait(has_done_something ? 0 : rest_behind(now_ns - begin_ns)) && !is_over) look_soon();
        }
        for (const auto& [path, one] : known_) {
            for (const task* each : {&one.bring, &one.flatten}) {
                if (!each->state.why().empty()) report_.left.push_back(each->state.why());
            }
        }
        return std::move(report_);
    }

  private:
    struct known {
        task bring;
        task flatten;
        task give_back;
        int64_t room_bytes = 0;  ///< of its data, when nothing more could be given back
        bool is_seen = true;
    };

    [[nodiscard]] bool waits() const {
        return std::any_of(known_.begin(), known_.end(),
                           [](const auto& one) { return one.second.bring.waits || one.second.flatten.waits; });
    }

    void look_soon() {
        for (auto& [path, one] : known_) {
            one.bring.state.look_soon();
            one.flatten.state.look_soon();
            one.give_back.state.look_soon();
        }
    }

    /// Nobody comes any more, and who came since the last round has left nothing to do.
    bool may_end() {
        if (!job_.keep_others_out()) return false;
        if (!round(true)) return true;
        job_.let_come();
        return false;
    }

    /// Whether anything came of it.
    bool round(bool is_over) {
        bool has_done_something = false;
        for (auto& [path, one] : known_) one.is_seen = false;
        for (const std::string& root : how_.roots) {
            found_containers found = find_containers(root);
            for (const std::string& folder : found.folders) static_cast<void>(finish_flattening(folder));
            for (const std::string& path : found.paths) has_done_something |= attend(path, is_over);
            if (how_.stage.empty() || !found.is_whole) continue;
            found.paths.insert(found.paths.end(), found.hidden.begin(), found.hidden.end());
            clean_stage(how_.stage, root, found.paths);
        }
        std::erase_if(known_, [](const auto& one) { return !one.second.is_seen; });
        return has_done_something;
    }

    bool attend(const std::string& path, bool is_over) {
        known& one = known_[path];
        one.is_seen = true;
        bool has_done_something = false;
        if (!how_.stage.empty() && one.bring.state.is_due(monotonic_ns())) has_done_something |= bring(path, one.bring);
        // A plain file of it takes no such room.
        const bool is_flattened_soon = how_.flattens && is_over;
        if (!is_flattened_soon && one.give_back.state.is_due(monotonic_ns())) give_back(path, one);
        if (how_.flattens && one.flatten.state.is_due(monotonic_ns()) && flatten(path, one.flatten, is_over)) {
            one.is_seen = false;
            has_done_something = true;
        }
        return has_done_something;
    }

    bool bring(const std::string& path, task& of) {
        container what;
        if (auto opened = what.open(path); !opened) {
            of.failed(opened.why(), false);
            return false;
        }
        const auto done = bring_paced(what, {}, pace_);
        if (!done) {
            of.failed(done.why(), true);
            return false;
        }
        report_.brought_bytes += done->brought_bytes;
        const bool has_writers = std::any_of(done->left.begin(), done->left.end(),
                                             [](const staged_elsewhere& each) { return each.is_here; });
        const bool has_done_something = done->brought_bytes > 0 || done->finished > 0;
        if (has_done_something) of.done();
        of.waits = has_writers;
        // Of what lies on other nodes, their agents take care.
        if (!has_done_something) of.state.put_off(monotonic_ns(), {});
        return has_done_something;
    }

    /// Writers see to what they replace of their own data; this finds what others have replaced. All indexes are read
    /// for it: only when the data have grown by half since the last time.
    void give_back(const std::string& path, known& one) {
        one.give_back.state.put_off(monotonic_ns(), {});
        container what;
        if (!what.open(path).ok() || what.is_plfs()) return;
        const int64_t room = room_of_data(what);
        if (room < one.room_bytes + std::max(own_space::usual_least_bytes, one.room_bytes / 2)) return;
        const auto done = punch_dead(what);
        // Views that are in the way, and another one that does the same, go.
        const bool may_go_later = done.ok() ? done->is_held : done.why().kind == error_kind::unavailable;
        if (!may_go_later) one.room_bytes = room_of_data(what);
    }

    bool flatten(const std::string& path, task& of, bool is_over) {
        auto done = flatten_closed(path, of, is_over);
        if (done) {
            ++report_.flattened;
            report_.flattened_bytes += done->written_bytes;
            if (done->conflict_bytes > 0)
                remarks_ += conflict_in_words(path, std::to_string(done->conflict_bytes) + " bytes", true) + "\n";
            return true;
        }
        // Others have it open, or something of it is on its way. All else stays as it is unless somebody acts.
        of.failed(done.why(), done.why().kind == error_kind::unavailable || done.why().system_errno == ENODATA);
        return false;
    }

    result<flatten_report> flatten_closed(const std::string& path, task& of, bool is_over) {
        container what;
        if (auto opened = what.open(path); !opened) return opened.why();
        // What PLFS is to read stays.
        if (auto ours = what.expect_ours(); !ours) return ours.why();
        if (!is_over && !of.state.is_quiet(newest_change_ns(what), monotonic_ns(), how_.quiet_ns))
            return failure{error_kind::unavailable, path + ": it was written a moment ago", EAGAIN};
        return flatten_paced(what, path, {}, pace_);
    }

    /// While there is something to say.
    void say_what_is_left() {
        std::string text;
        size_t left = 0;
        for (const auto& [path, one] : known_) {
            for (const task* each : {&one.bring, &one.flatten}) {
                if (each->state.why().empty()) continue;
                if (++left <= most_told) text += each->state.why() + "\n";
            }
        }
        if (left > most_told) text += "and " + std::to_string(left - most_told) + " more\n";
        for (const std::string& each : turns_.take_remarks()) remarks_ += each + "\n";
        text += remarks_;
        if (how_.report_file.empty() || text == said_) return;
        if (text.empty())
            ::unlink(how_.report_file.c_str());
        else
            static_cast<void>(replace_file(how_.report_file, heading() + text));
        said_ = std::move(text);
    }

    static std::string heading() {
        return "halcyon-log-agent, process " + std::to_string(::getpid()) + " of " + host_name() + ":\n";
    }

    const agent_settings& how_;
    watched_job& job_;
    turn& turns_;
    pace pace_;
    agent_report report_;
    std::map<std::string, known> known_;
    std::string remarks_;
    std::optional<std::string> said_;  ///< none: what an agent before this one said may be there
};

}  // namespace

agent_report run_agent(const agent_settings& how, watched_job& job, turn& turns) {
    return agent(how, job, turns).work();
}

}  // namespace halcyon::logfs
