#include "insitu/worker/worker.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "base/shared_memory.hpp"
#include "insitu/protocol/worker_messages.hpp"
#include "insitu/worker/crash_report.hpp"
#include "insitu/worker/seen_blocks.hpp"

namespace halcyon::insitu {
namespace {

using namespace offload;

/// Less than the server's by so much: storing goes first where they share a core.
constexpr int nicer_by = 10;

/// What a sanitizer maps for itself is no memory of the plugin's, and it reports crashes itself.
constexpr bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

result<void> limit_memory(int64_t bytes) {
    if (is_sanitized()) return {};
    rlimit most{};
    if (::getrlimit(RLIMIT_DATA, &most) != 0) return system_failure("RLIMIT_DATA", errno);
    const auto wanted = static_cast<rlim_t>(bytes);
    most.rlim_cur = most.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, most.rlim_max);
    if (::setrlimit(RLIMIT_DATA, &most) != 0) return system_failure("RLIMIT_DATA", errno);
    return {};
}

/// What a worker has of the session.
struct session {
    session_document document;
    model data;
    segment shared;
};

result<std::unique_ptr<session>> open_session(received_message& start) {
    if (start.descriptors.size() != 2) return failure{error_kind::usage, "a start without a session", 0};
    auto memory = shared_memory::map(std::move(start.descriptors[1]), 0, false);
    if (!memory) return memory.why();
    auto document = session_document::from_text({reinterpret_cast<const char*>(memory->data()), memory->size()});
    if (!document) return document.why();
    auto data = parse_model(document->configuration, document->configuration_name, document->parameters);
    if (!data) return data.why();
    auto shared = segment::attach(std::move(start.descriptors[0]), document->geometry, segment::access::read);
    if (!shared) return shared.why();
    return std::make_unique<session>(session{*std::move(document), *std::move(data), *std::move(shared)});
}

class worker {
  public:
    worker(descriptor socket, const plugin_maker& make) : socket_(std::move(socket)), make_(make) {}

    int run() {
        auto first = receive_packet(socket_.get(), -1);
        if (!first) return 0;
        if (!start(*first)) return 1;
        while (true) {
            auto next = receive_packet(socket_.get(), -1);
            if (!next) return 0;  // the server has ended
            if (next->kind == message_kind::finalize) return finalize();
            if (!handle(*next)) return 1;
        }
    }

  private:
    bool start(received_message& first) {
        const auto said = unpacked<start_message>(first);
        // It may have ended before this process asked to be told.
        if (!said || said->version != worker_protocol_version || ::getppid() != said->server) return false;
        loaded_message loaded;
        loaded.set(load(first, *said));
        if (!answer(loaded) || loaded.ok == 0) return false;
        ready_message ready;
        ready.set(plugin_->init());
        return answer(ready) && ready.ok != 0;
    }

    result<void> load(received_message& first, const start_message& said) {
        auto opened = open_session(first);
        if (!opened) return opened.why();
        session_ = *std::move(opened);
        if (said.action_id >= session_->data.actions.size())
            return failure{error_kind::usage, "no action " + std::to_string(said.action_id), 0};
        const action& a = session_->data.actions[said.action_id];
        if (!is_sanitized()) report_crashes("action '" + a.name + "'");
        if (auto limited = limit_memory(a.memory_bytes); !limited) return limited;
        blocks_.emplace(session_->shared, session_->data, session_->document);
        plugin_place where;
        where.directory = said.directory;
        where.working_directory = session_->document.directory;
        where.node = session_->document.node;
        where.nodes = session_->document.nodes;
        where.ranks = session_->document.ranks;
        where.isolated = true;
        auto made = make_(session_->data, a, std::move(where));
        if (!made) return made.why();
        plugin_ = *std::move(made);
        return {};
    }

    bool handle(received_message& next) {
        if (next.kind == message_kind::spill) {
            const auto said = unpacked<spill_message>(next);
            if (!said || next.descriptors.size() != 1) return false;
            blocks_->bring(said->client, std::move(next.descriptors[0]));
            return true;
        }
        const auto said = unpacked<run_message>(next);
        if (!said || said->event_id >= session_->data.events.size()) return false;
        return answer(run(*said));
    }

    done_message run(const run_message& said) {
        done_message done;
        const auto blocks = blocks_->show(said.blocks, done.unseen), once = blocks_->show(said.once, done.unseen);
        plugin_run r;
        r.of = &session_->data.events[said.event_id];
        r.iteration = said.iteration;
        r.rank = said.rank;
        r.blocks = blocks;
        r.once = once;
        r.left_out = said.left_out + done.unseen;
        r.parameters = said.parameters;
        r.raise_job = [&](const std::string& name) {
            const event* other = session_->data.find_event(name);
            if (other == nullptr || other->scope != scope::job) return 1;
            done.raised.push_back(other->id);  // a server without a world counts it as lost
            return said.can_raise != 0 ? 0 : 2;
        };
        done.set(plugin_->run(r));
        blocks_->let_go();
        return done;
    }

    int finalize() {
        finalized_message over;
        over.set(plugin_->finalize());
        return answer(over) && over.ok != 0 ? 0 : 1;
    }

    template <class Message>
    bool answer(const Message& m) {
        const auto p = packed(m);
        return p && send_packet(socket_.get(), *p);
    }

    descriptor socket_;
    const plugin_maker& make_;
    std::unique_ptr<session> session_;
    std::optional<seen_blocks> blocks_;
    std::unique_ptr<plugin> plugin_;
};

}  // namespace

void become_worker(const char* name) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, name);
    ::syscall(SYS_close_range, server_socket + 1, ~0U, 0);
    ::fcntl(server_socket, F_SETFD, FD_CLOEXEC);  // not for what a plugin starts
    // Meant for the job: a worker ends with its server.
    for (const int s : {SIGHUP, SIGINT, SIGTERM, SIGXFSZ}) ::signal(s, SIG_IGN);
    static_cast<void>(::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + nicer_by));
}

int run_worker(descriptor socket, const plugin_maker& make) {
    return worker(std::move(socket), make).run();
}

}  // namespace halcyon::insitu
