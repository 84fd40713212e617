#include "offload/client/session_opening.hpp"

#include <sched.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/clock.hpp"
#include "base/text_file.hpp"
#include "offload/client/directories_at_open.hpp"
#include "offload/client/run_file.hpp"
#include "offload/output/run_mark.hpp"

namespace halcyon::offload {
namespace {

namespace fs = std::filesystem;

/// The cores this process may run on, as "0-3,8"; "" when it is not bound to fewer than all.
std::string bound_cores() {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return "";
    if (CPU_COUNT(&mine) >= ::sysconf(_SC_NPROCESSORS_ONLN)) return "";
    std::string list;
    for (int c = 0; c < CPU_SETSIZE; ++c) {
        if (!CPU_ISSET(c, &mine)) continue;
        int last = c;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &mine)) ++last;
        list += (list.empty() ? "" : ",") + std::to_string(c) + (last > c ? "-" + std::to_string(last) : "");
        c = last;
    }
    return list;
}

/// How many cores of this node are left for servers: those that no client is bound to, or, where clients are not bound,
/// those that are more than clients.
int cores_left(const std::vector<std::string>& client_cores) {
    const auto cores = static_cast<size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    std::set<long> used;
    for (const std::string& list : client_cores) {
        if (list.empty()) return static_cast<int>(cores - std::min(cores, client_cores.size()));
        std::istringstream ranges(list);
        for (std::string range; std::getline(ranges, range, ',');) {
            const size_t dash = range.find('-');
            const long first = std::strtol(range.c_str(), nullptr, 10);
            const long last = dash == std::string::npos ? first : std::strtol(range.c_str() + dash + 1, nullptr, 10);
            for (long core = first; core <= last; ++core) used.insert(core);
        }
    }
    return static_cast<int>(cores - std::min(cores, used.size()));
}

/// Whether a server went away in the middle of the open: then another one is tried, once.
bool server_died(const failure& why) {
    const int saved_errno = why.system_errno;
    return std::getenv("HALCYON_SESSION") == nullptr &&
           (saved_errno == ECONNRESET || saved_errno == ECONNREFUSED || saved_errno == EPIPE);
}

}  // namespace

result<std::unique_ptr<mpi_session>> mpi_session::open(const std::string& path, MPI_Comm comm,
                                                       const std::map<std::string, double>& parameters) {
    std::unique_ptr<mpi_session> s(new mpi_session);
    s->configuration_path_ = path;
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &own);
    s->all_ = communicator(own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_ARE_FATAL);
    s->open_began_ns_ = realtime_ns();

    // One process reads: thousands of clients do not open the same file.
    std::string configuration;
    result<void> read;
    if (s->all_.rank() == 0) {
        auto text = read_text_file(path);
        if (text)
            configuration = *text;
        else
            read = failure{error_kind::config, text.why().message, text.why().system_errno};
    }
    std::error_code no_directory;
    if (s->all_.rank() == 0) s->directory_ = fs::current_path(no_directory).string();
    if (read && no_directory) read = system_failure("the working directory", no_directory.value());
    if (auto all = agree(own, read); !all) return all.why();
    configuration = broadcast(own, 0, configuration);
    s->directory_ = broadcast(own, 0, s->directory_);
    auto parsed = parse_model(configuration, path, parameters);
    if (auto all = agree(own, parsed ? result<void>() : result<void>(parsed.why())); !all) return all.why();
    s->model_ = std::move(*parsed);
    if (!s->model_.stores.empty()) s->run_ = broadcast(own, 0, s->all_.rank() == 0 ? random_session_id() : "");
    s->machine_ = node_of(own);
    if (auto shared = agree(own, s->share_machine()); !shared) return shared.why();
    MPI_Comm leaders = MPI_COMM_NULL;
    MPI_Comm_split(own, s->node_.rank() == 0 ? 0 : MPI_UNDEFINED, s->all_.rank(), &leaders);
    if (leaders != MPI_COMM_NULL) {
        const communicator of_leaders(leaders);
        s->node_index_ = of_leaders.rank();
        s->nodes_ = of_leaders.size();
        const int clients = s->node_.size();
        s->clients_per_node_.resize(static_cast<size_t>(s->nodes_));
        MPI_Gather(&clients, 1, MPI_INT, s->clients_per_node_.data(), 1, MPI_INT, 0, leaders);
    }
    int place[2] = {s->node_index_, s->nodes_};
    MPI_Bcast(place, 2, MPI_INT, 0, s->node_.get());
    s->node_index_ = place[0];
    s->nodes_ = place[1];

    const result<void> prepared = s->all_.rank() == 0 ? s->prepare_directories() : result<void>();
    if (auto all = agree(own, prepared); !all) return all.why();
    // Other nodes may have disks of their own.
    const result<void> marked = s->node_.rank() == 0 ? s->mark_directories() : result<void>();
    if (auto all = agree(own, marked); !all) return all.why();
    if (auto connected = agree(own, s->connect(configuration)); !connected) return connected.why();
    const result<void> written = s->all_.rank() == 0 ? s->write_run_file({}) : result<void>();
    if (auto all = agree(own, written); !all) return all.why();
    s->open_ended_ns_ = realtime_ns();
    return s;
}

/// Collective over the machine: its clients are divided among its servers, neighbours together. From here on a server
/// and its clients are a node of their own.
result<void> mpi_session::share_machine() {
    servers_of_machine_ = std::min(model_.servers_per_node, machine_.size());
    server_of_machine_ = server_of(machine_.rank(), machine_.size(), servers_of_machine_);
    client_cores_ = gather_to_all(machine_.get(), bound_cores());
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split(machine_.get(), server_of_machine_, machine_.rank(), &node);
    node_ = communicator(node);
    if (servers_of_machine_ > 1 && std::getenv("HALCYON_SESSION") != nullptr)
        return failure{error_kind::config,
                       model_.servers_where + ": " + std::to_string(model_.servers_per_node) +
                           ": a server world (`halcyon run --servers-per-node 1`) has one server on each node; raise "
                           "resources.server.threads instead",
                       0};
    return {};
}

/// Collective over the node. Ends with `client_` made, or a failure that every client of the node has.
result<void> mpi_session::connect(const std::string& configuration) {
    const client_session::place_in_job place{all_.rank(), all_.size(), static_cast<uint32_t>(node_.rank())};
    auto fallback = std::make_unique<inline_store>(
        model_,
        inline_store::surroundings{directory_, place.rank, place.size, node_index_, nodes_, model_.run_inline, run_});
    inline_ = fallback.get();
    if (model_.run_inline) {
        if (auto opened = fallback->open(); !opened) return opened;
        client_ = std::make_unique<client_session>(model_, place, nullptr, nullptr, std::move(fallback));
        return {};
    }
    auto need = need_of(model_, place.rank, place.size);
    if (auto all = agree(node_.get(), need ? result<void>() : result<void>(need.why()), naming::nobody); !all)
        return all;
    uint64_t most[4] = {need->iteration, need->constant, need->largest, need->blocks};
    MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_UINT64_T, MPI_MAX, node_.get());
    need->iteration = most[0];
    need->constant = most[1];
    need->largest = most[2];
    need->blocks = most[3];

    auto served = connect_to_server(configuration, *need);
    if (!served && server_died(served.why())) {
        pending_link_.reset();
        pending_segment_.reset();
        served = connect_to_server(configuration, *need);
    }
    if (!served) return served;
    link_ = pending_link_.get();
    link_->watch(*pending_segment_);
    client_ = std::make_unique<client_session>(model_, place, std::move(pending_segment_), std::move(pending_link_),
                                               std::move(fallback));
    return {};
}

succession::about mpi_session::successors(const std::string& session, uint32_t client) const {
    return {session, client, model_.server.max_restarts, model_.server.hang_timeout};
}

/// Collective over the node. Ends with a segment and a link to its server, or a failure that every client of the node
/// has.
result<void> mpi_session::connect_to_server(const std::string& configuration, const arena_need& need) {
    const client_session::place_in_job place{all_.rank(), all_.size(), static_cast<uint32_t>(node_.rank())};
    std::string session;
    const result<void> led = connect_as_leader(configuration, need, session);
    if (auto all = agree(node_.get(), led, naming::nobody); !all) return all;
    session = broadcast(node_.get(), 0, session);
    result<void> joined;
    if (node_.rank() != 0) {
        auto r = server_process::join(successors(session, place.client));
        if (r) {
            const auto& document = r->link->document();
            auto about = session_document::from_text({reinterpret_cast<const char*>(document.data()), document.size()});
            auto mapped =
                about ? segment::attach(std::move(r->segment), about->geometry) : result<segment>(about.why());
            if (mapped) {
                pending_segment_ = std::make_unique<segment>(std::move(*mapped));
                pending_link_ = std::move(r->link);
            } else {
                joined = mapped.why();
            }
        } else {
            joined = r.why();
        }
    }
    if (joined) joined = pending_segment_->touch(place.client);
    return agree(node_.get(), joined, naming::nobody);
}

/// Collective over the node: everybody tells the leader who it is; the leader makes the segment and has the server.
result<void> mpi_session::connect_as_leader(const std::string& configuration, const arena_need& need,
                                            std::string& session) {
    const std::vector<std::string> ranks = gather(node_.get(), std::to_string(all_.rank()));
    if (node_.rank() != 0) return {};
    if (auto spills = check_spill_directory(model_); !spills) return spills;
    auto geometry = plan_segment(model_, static_cast<uint32_t>(node_.size()), need, servers_of_machine_);
    if (!geometry) return geometry.why();
    auto made = segment::create(*geometry, model_.buffer.huge_pages);
    if (!made) return made.why();

    session_document about;
    const char* world = std::getenv("HALCYON_SESSION");
    about.session = world != nullptr ? world : random_session_id();
    about.run = run_;
    about.configuration = configuration;
    about.configuration_name = configuration_path_;
    about.directory = directory_;
    about.writer = node_writer(node_index_);
    about.node = node_index_;
    about.nodes = nodes_;
    about.ranks = all_.size();
    for (const std::string& r : ranks) about.client_ranks.push_back(std::atoi(r.c_str()));
    about.client_cpus = client_cores_;
    about.server_of_machine = server_of_machine_;
    dedicated_cores_ = std::min(cores_left(client_cores_), servers_of_machine_);
    about.geometry = *geometry;
    for (const parameter& p : model_.parameters) about.parameters[p.name] = p.value;
    const std::string text = about.to_text();
    auto document = shared_memory::create("halcyon-session", text.size(), false);
    if (!document) return document.why();
    std::memcpy(document->data(), text.data(), text.size());
    if (auto frozen = document->freeze(); !frozen) return frozen;

    if (world == nullptr)
        if (auto started = start_server(about.session, 1, successors(about.session, 0).patience_ms()); !started)
            return started;
    auto link = server_process::bring(successors(about.session, 0), *made, std::move(*document));
    if (!link && world != nullptr && link.why().kind == error_kind::unavailable)
        return failure{
            error_kind::unavailable,
            link.why().message +
                "; HALCYON_SESSION names a server world (`halcyon run --servers-per-node 1`), which "
                "must have a server on each node and serves one session: is the simulation on other nodes, or was a "
                "session open before?",
            0};
    if (!link) return link.why();
    pending_segment_ = std::make_unique<segment>(std::move(*made));
    pending_link_ = std::move(*link);
    session = about.session;
    return {};
}

/// Rank 0: a directory that holds an earlier run, or one that goes on, is not mixed with this one.
result<void> mpi_session::prepare_directories() {
    std::set<fs::path> claimed;
    for (const store& s : model_.stores) {
        const fs::path directory = (fs::path(directory_) / s.path).lexically_normal();
        std::error_code why;
        fs::create_directories(directory, why);
        if (why) return system_failure("output directory " + directory.string(), why.value());
        if (claimed.insert(fs::canonical(directory, why)).second) {
            auto claim = directory_claim::take(directory.string());
            if (!claim)
                return failure{claim.why().kind,
                               claim.why().message + ": choose another path for stores." + s.name +
                                   ", or wait until that session is closed and its server has stored everything",
                               claim.why().system_errno};
            claims_.push_back(std::move(*claim));
        }
        const auto earlier = files_to_replace(model_, s, directory);
        if (!earlier) return earlier.why();
        for (const fs::path& file : *earlier) {
            fs::remove(file, why);
            if (why) return system_failure(file.string(), why.value());
        }
    }
    // Before anybody can join: servers of an earlier run see by it that this is not theirs.
    if (auto marked = mark_directories(); !marked) return marked;
    // Servers hold the directories too: one that was left behind by `close: detach` may still write.
    for (directory_claim& claim : claims_)
        if (auto shared = claim.share(); !shared) return shared;
    return {};
}

result<void> mpi_session::mark_directories() const {
    for (const store& s : model_.stores) {
        const std::string directory = (fs::path(directory_) / s.path).lexically_normal().string();
        if (auto marked = set_run_mark(directory, run_); !marked) return marked;
    }
    return {};
}

result<void> mpi_session::write_run_file(std::optional<ending> end) const {
    run_file r;
    r.approach = model_.run_inline ? "halcyon-inline" : "halcyon";
    r.simulation = model_.simulation;
    r.ranks = all_.size();
    r.clients_per_node = clients_per_node_;
    r.dedicated_cores = dedicated_cores_;
    r.started_ns = open_began_ns_;
    for (int i = 0; i < (model_.run_inline ? all_.size() : nodes_); ++i)
        r.writers.push_back(model_.run_inline ? client_writer(i) : node_writer(i));
    for (const parameter& p : model_.parameters) r.parameters[p.name] = p.value;
    if (end) {
        r.ended_ns = realtime_ns();
        r.open_ns = open_ended_ns_ - open_began_ns_;
        r.close_ns = *r.ended_ns - end->close_began_ns;
        r.visible_ns = end->visible_ns;
    }
    const std::string directory = records_directory(model_, directory_);
    if (auto ours = settle_in_directory(directory, run_); !ours) return ours;
    return r.save(directory);
}

result<void> mpi_session::close() {
    // Waits since the last iteration ended are in no phase: they are part of closing.
    const int64_t waited_ns = client_->visible_in_no_phase_ns();
    const ending end{realtime_ns() - waited_ns, static_cast<int64_t>(client_->counts().visible_ns) - waited_ns};
    result<void> outcome = client_->finish();
    if (!model_.detach_at_close) {
        if (auto drained = client_->wait_until_drained(); !drained) outcome = drained;
        // Every node has published before the last view is made.
        outcome = agree(all_.get(), outcome);
        if (node_.rank() == 0) client_->release_server(all_.rank() == 0);
        if (all_.rank() == 0) {
            if (!client_->wait_until_finished())
                if (auto view = inline_->rebuild_views({}); !view && outcome.ok()) outcome = view;
        }
    }
    if (all_.rank() == 0)
        if (auto written = write_run_file(end); !written && outcome.ok()) outcome = written;
    claims_.clear();
    outcome = agree(all_.get(), outcome, naming::nobody);
    if (link_ != nullptr) link_->stop_watching();
    client_.reset();
    node_.reset();
    machine_.reset();
    all_.reset();
    return outcome;
}

}  // namespace halcyon::offload
