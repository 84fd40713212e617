#include "insitu/workers/plugin_seat.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/clock.hpp"

namespace halcyon::insitu {

using namespace offload;
using kind = plugin_host::outcome::kind;

namespace {

bool is_readable(int fd) {
    pollfd p{fd, POLLIN, 0};
    return ::poll(&p, 1, 0) == 1;
}

std::string text_of(std::chrono::nanoseconds limit) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
    return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace

result<descriptor> reopened_read_only(int fd) {
    descriptor again(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC));
    if (!again) return system_failure("/proc/self/fd", errno);
    return again;
}

plugin_seat::plugin_seat(uint32_t action_id, surroundings where) : action_id_(action_id), where_(where) {}

void plugin_seat::start() {
    wanted_ = false;
    spill_files_sent_.clear();
    outgoing_.clear();
    auto started = worker_process::start(*where_.program);
    if (!started) return over(named() + ": its process could not be started: " + started.why().message);
    process_ = *std::move(started);
    state_ = state::loading;
    set_deadline();
    if (!put_start()) end(named() + ": its process could not be told of its session");
}

void plugin_seat::take(task what, teller tell) {
    run_.emplace(std::move(what), std::move(tell));
    if (state_ == state::absent) wanted_ = true;
    if (state_ == state::idle) send_run();
}

void plugin_seat::finish() {
    wanted_ = false;
    if (state_ == state::idle) {
        state_ = state::finishing;
        set_deadline();
        if (!put(finalize_message{})) end(named() + ": its process could not be told to end");
    } else if (state_ == state::loading || state_ == state::starting) {
        process_.kill();
        dying_.push_back(std::exchange(process_, {}));
        state_ = state::absent;
        deadline_ns_ = 0;
    }
}

void plugin_seat::set_deadline() {
    deadline_ns_ = monotonic_ns() + about().timeout.count();
}

void plugin_seat::send_run() {
    state_ = state::running;
    set_deadline();
    if (!put_run(run_->first)) end(named() + ": its process could not be told what to do");
}

template <class Message>
bool plugin_seat::put(Message m, std::vector<descriptor> descriptors) {
    auto p = packed(std::move(m), std::move(descriptors));
    if (!p) return false;
    outgoing_.push_back(*std::move(p));
    send();
    return true;
}

bool plugin_seat::put_start() {
    auto memory = reopened_read_only(where_.of_host->segment);
    auto document = reopened_read_only(where_.document);
    if (!memory || !document) return false;
    start_message m;
    m.server = ::getpid();
    m.action_id = action_id_;
    m.directory = where_.of_host->directory;
    std::vector<descriptor> both;
    both.push_back(*std::move(memory));
    both.push_back(*std::move(document));
    return put(std::move(m), std::move(both));
}

bool plugin_seat::put_run(const task& what) {
    for (const task::spill& s : what.spilled) {
        if (!spill_files_sent_.insert(s.client).second) continue;
        auto file = reopened_read_only(s.file);
        if (!file) return false;
        std::vector<descriptor> one;
        one.push_back(*std::move(file));
        if (!put(spill_message{s.client}, std::move(one))) return false;
    }
    run_message m;
    m.event_id = what.event_id;
    m.iteration = what.iteration;
    m.rank = what.rank;
    m.can_raise = what.can_raise ? 1 : 0;
    m.left_out = what.left_out;
    m.blocks = what.blocks;
    m.once = what.once;
    m.parameters = what.parameters;
    return put(std::move(m));
}

void plugin_seat::send() {
    while (!outgoing_.empty()) {
        if (const auto sent = send_packet(process_.socket(), outgoing_.front()); !sent) {
            // Else its process is ending, and that is heard of.
            if (sent.why().system_errno != EAGAIN) outgoing_.clear();
            return;
        }
        outgoing_.pop_front();
    }
}

void plugin_seat::hear() {
    std::erase_if(dying_, [](worker_process& p) {
        if (!is_readable(p.watch())) return false;
        p.reap();
        return true;
    });
    // What it said before it ended comes first.
    while (process_.socket() >= 0 && is_readable(process_.socket())) {
        const auto m = receive_packet(process_.socket(), 0);
        const bool is_gone = !m && m.why().kind == error_kind::system;
        if (is_gone) process_.hang_up();
        if (!is_gone && (!m || !handle(*m))) end(named() + ": its process sent what makes no sense, and is ended");
    }
    if (process_.exists() && is_readable(process_.watch())) ended(process_.reap());
}

void plugin_seat::add_waits(std::vector<pollfd>& to) const {
    const auto events = static_cast<short>(outgoing_.empty() ? POLLIN : POLLIN | POLLOUT);
    if (process_.socket() >= 0) to.push_back({process_.socket(), events, 0});
    if (process_.exists()) to.push_back({process_.watch(), POLLIN, 0});
    for (const worker_process& p : dying_) to.push_back({p.watch(), POLLIN, 0});
}

void plugin_seat::look_at_clock(int64_t now_ns) {
    if (deadline_ns_ == 0 || now_ns < deadline_ns_) return;
    const char* what = state_ == state::running ? "run" : state_ == state::finishing ? "end" : "start";
    end(named() + " took longer to " + what + " than its `timeout` of " + text_of(about().timeout) +
        ": its process is ended");
}

/// False: it has no business to say that now.
bool plugin_seat::handle(const received_message& m) {
    const auto failed_to_start = [this](const reply& r) { end(r.why); };
    switch (m.kind) {
        case message_kind::loaded: {
            const auto said = unpacked<loaded_message>(m);
            if (!said || state_ != state::loading) return false;
            tried_to_load_ = true;
            if (said->ok == 0) {
                if (said->error == static_cast<uint32_t>(error_kind::config))
                    refused_ = failure{error_kind::config, said->why, 0};
                failed_to_start(*said);
                return true;
            }
            state_ = state::starting;
            return true;
        }
        case message_kind::ready: {
            const auto said = unpacked<ready_message>(m);
            if (!said || state_ != state::starting) return false;
            if (said->ok == 0) {
                failed_to_start(*said);
                return true;
            }
            state_ = state::idle;
            deadline_ns_ = 0;
            if (run_) send_run();
            return true;
        }
        case message_kind::done: {
            auto said = unpacked<done_message>(m);
            if (!said || state_ != state::running) return false;
            state_ = state::idle;
            deadline_ns_ = 0;
            tell({said->ok != 0 ? kind::done : kind::failed, said->why, std::move(said->raised), said->unseen});
            return true;
        }
        case message_kind::finalized: {
            const auto said = unpacked<finalized_message>(m);
            if (!said || state_ != state::finishing) return false;
            finalized_ = true;
            if (said->ok == 0) complaints_.push_back(said->why);
            return true;
        }
        default:
            return false;
    }
}

/// Its process is of no use any more.
void plugin_seat::end(const std::string& why) {
    process_.kill();
    dying_.push_back(std::exchange(process_, {}));
    over(why);
}

/// Its process has ended by itself.
void plugin_seat::ended(const std::string& how) {
    if (state_ == state::finishing && finalized_) {
        state_ = state::absent;
        deadline_ns_ = 0;
        return;
    }
    const char* when = state_ == state::running     ? " while it ran"
                       : state_ == state::idle      ? " while it waited"
                       : state_ == state::finishing ? " while it ended its work"
                                                    : " while it started";
    over(named() + ": its process " + how + when);
}

void plugin_seat::over(const std::string& why) {
    const state was = std::exchange(state_, state::absent);
    deadline_ns_ = 0;
    outgoing_.clear();
    tried_to_load_ = true;
    if (was == state::finishing)
        complaints_.push_back(why);
    else if (run_)
        tell({was == state::running ? kind::ended : kind::not_started, why, {}, 0});
    else
        where_.of_host->ended_idle(action_id_, why);
}

void plugin_seat::tell(const outcome& what) {
    const auto told = *std::exchange(run_, std::nullopt);
    told.second(what);
}

}  // namespace halcyon::insitu
