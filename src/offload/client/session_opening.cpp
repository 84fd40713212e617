#include "offload/client/session_opening.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "base/text_file.hpp"
#include "base/working_directory.hpp"
#include "offload/client/core_binding.hpp"
#include "offload/client/directories_at_open.hpp"
#include "offload/client/find_unended.hpp"
#include "offload/client/run_file.hpp"
#include "offload/output/run_mark.hpp"
#include "offload/output/server_log.hpp"

namespace halcyon::offload {
namespace {

/// Servers that one open starts at most. Nothing is lost with one that dies before the session is open, so it is none
/// of the `max-restarts` of a run.
constexpr int most_first_servers = 4;

}  // namespace

result<void> mpi_session::open(communicator all) {
    all_ = std::move(all);
    open_began_ns_ = realtime_ns();
    auto opened = open_in_steps();
    if (!opened) leave_server();
    open_ended_ns_ = realtime_ns();
    return opened;
}

result<void> mpi_session::open_in_steps() {
    if (auto done = read_configuration(); !done) return done;
    if (auto done = find_place(); !done) return done;
    if (auto done = prepare_output(); !done) return done;
    if (auto done = model_.run_inline ? connect_inline() : connect(); !done) return done;
    if (auto done = begin_steering(); !done) return done;
    return agree_after(all_,
                       [this]() -> result<void> { return all_.rank() == 0 ? write_run_file({}) : result<void>(); });
}

/// Collective: values that were set before the open may differ between ranks; those of rank 0 count.
result<void> mpi_session::begin_steering() {
    if (client_->steered() == nullptr) return {};
    auto ready = agree_after(all_, [this]() -> result<void> {
        steering_.emplace(all_, *client_->steered());
        return {};
    });
    return ready ? steering_->exchange(0) : ready;
}

result<void> mpi_session::end_iteration() {
    if (!steering_) return client_->end_iteration();
    // Whatever becomes of it, the other ranks wait for this one.
    auto ended = contained("", [this] { return client_->end_iteration(); });
    auto same = steering_->exchange(client_->iteration());
    client_->count_time_since_last_call();
    return ended ? same : ended;
}

/// One process reads: thousands of clients do not open the same file.
result<void> mpi_session::read_configuration() {
    auto read = agree_after(all_, [this]() -> result<void> {
        environment_ = launch_environment::of_this_process();
        if (all_.rank() != 0) return {};
        auto text = read_text_file(configuration_path_);
        if (!text) return failure{error_kind::config, text.why().message, text.why().system_errno};
        configuration_ = std::move(*text);
        const auto here = working_directory();
        if (!here) return here.why();
        directory_ = here->string();
        return {};
    });
    if (!read) return read;
    if (auto sent = broadcast(all_, 0, configuration_); !sent) return sent;
    if (auto sent = broadcast(all_, 0, directory_); !sent) return sent;
    auto parsed = agree_after(all_, [this]() -> result<void> {
        auto understood = parse_model(configuration_, configuration_path_, set_parameters_);
        if (!understood) return understood.why();
        model_ = std::move(*understood);
        if (model_.server.turns == turns::coordinator) environment_.let_server_take_turns();
        if (!model_.stores.empty() && all_.rank() == 0) run_ = random_session_id();
        return {};
    });
    if (!parsed) return parsed;
    return broadcast(all_, 0, run_);
}

/// Collective: which processes share a machine, and which of those a server.
result<void> mpi_session::find_place() {
    auto found = agree_after(
        all_,
        [this]() -> result<void> {
            auto machine = node_of(all_);
            if (!machine) return machine.why();
            machine_ = std::move(*machine);
            return share_machine();
        },
        naming::nobody);
    if (!found) return found;
    return agree_after(
        all_, [this] { return number_nodes(); }, naming::nobody);
}

/// Collective over the machine: its clients are divided among its servers, neighbours together. From here on a server
/// and its clients are a node of their own.
result<void> mpi_session::share_machine() {
    servers_of_machine_ = std::min(model_.servers_per_node, machine_.size());
    server_of_machine_ = server_of(machine_.rank(), machine_.size(), servers_of_machine_);
    std::string cores;
    auto seen = agree_after(machine_, [&]() -> result<void> {
        cores = bound_cores();
        if (servers_of_machine_ > 1 && !environment_.world.empty())
            return failure{error_kind::config,
                           model_.servers_where + ": " + std::to_string(model_.servers_per_node) +
                               ": a server world (`halcyon run --servers-per-node 1`) has one server on each node; "
                               "raise resources.server.threads instead",
                           0};
        return {};
    });
    if (!seen) return seen;
    auto gathered = gather_to_all(machine_, cores);
    if (!gathered) return gathered.why();
    client_cores_ = std::move(*gathered);
    auto node = split(machine_, server_of_machine_, machine_.rank());
    if (!node) return node.why();
    node_ = std::move(*node);
    return {};
}

/// Collective: the nodes are counted by their first clients, who tell the others.
result<void> mpi_session::number_nodes() {
    auto leaders = split(all_, node_.rank() == 0 ? 0 : MPI_UNDEFINED, all_.rank());
    if (!leaders) return leaders.why();
    result<void> counted;
    if (leaders->get() != MPI_COMM_NULL) counted = count_nodes(*leaders);
    // The others of the node wait for these numbers, whatever became of the count.
    int numbers[2] = {node_index_, nodes_};
    if (auto sent = outcome_of(MPI_Bcast(numbers, 2, MPI_INT, 0, node_.get()), "MPI_Bcast"); !sent) return sent;
    node_index_ = numbers[0];
    nodes_ = numbers[1];
    return counted;
}

/// Collective over the nodes' first clients.
result<void> mpi_session::count_nodes(const communicator& leaders) {
    const int clients = node_.size();
    auto room = agree_after(leaders, [&]() -> result<void> {
        clients_per_node_.resize(static_cast<size_t>(leaders.size()));
        return {};
    });
    if (!room) return room;
    node_index_ = leaders.rank();
    nodes_ = leaders.size();
    const int code = MPI_Gather(&clients, 1, MPI_INT, clients_per_node_.data(), 1, MPI_INT, 0, leaders.get());
    return outcome_of(code, "MPI_Gather");
}

result<void> mpi_session::prepare_output() {
    auto prepared = agree_after(all_, [this]() -> result<void> {
        return all_.rank() == 0 ? prepare_directories(model_, directory_, run_, claims_) : result<void>();
    });
    if (!prepared) return prepared;
    // Other nodes may have disks of their own.
    return agree_after(all_, [this]() -> result<void> {
        return node_.rank() == 0 ? mark_directories(model_, directory_, run_) : result<void>();
    });
}

succession::about mpi_session::successors(const std::string& session, uint32_t client) const {
    return {session, client, model_.server.max_restarts, model_.server.hang_timeout, environment_};
}

place_in_job mpi_session::place() const {
    return {all_.rank(), all_.size(), static_cast<uint32_t>(node_.rank())};
}

std::unique_ptr<inline_writer> mpi_session::make_fallback() const {
    return std::make_unique<inline_writer>(
        model_, inline_writer::surroundings{directory_, all_.rank(), all_.size(), node_index_, nodes_,
                                            model_.run_inline, run_});
}

result<void> mpi_session::connect_inline() {
    return agree_after(all_, [this]() -> result<void> {
        auto fallback = make_fallback();
        inline_ = fallback.get();
        if (auto opened = fallback->open(); !opened) return opened;
        client_ = std::make_unique<client_session>(model_, place(), nullptr, nullptr, std::move(fallback));
        return {};
    });
}

/// Collective. Ends with `client_` made.
result<void> mpi_session::connect() {
    arena_need need;
    auto known = agree_after(all_, [&]() -> result<void> {
        pending_fallback_ = make_fallback();
        const auto own = need_of(model_, all_.rank(), all_.size());
        if (own) need = *own;
        return own ? result<void>() : own.why();
    });
    if (!known) return known;
    auto served = agree_after(
        all_,
        [&]() -> result<void> {
            if (auto most = most_demanding(need); !most) return most;
            for (int tried = 1;; ++tried) {
                auto connected = connect_to_server(need);
                if (connected || !server_connection::says_ended(connected.why())) return connected;
                if (!environment_.world.empty() || tried == most_first_servers) return connected;
                pending_link_.reset();
                pending_segment_.reset();
            }
        },
        naming::nobody);
    if (!served) return served;
    return agree_after(all_, [this]() -> result<void> {
        if (auto watched = pending_link_->watch(*pending_segment_); !watched) return watched;
        link_ = pending_link_.get();
        inline_ = pending_fallback_.get();
        client_ = std::make_unique<client_session>(model_, place(), std::move(pending_segment_),
                                                   std::move(pending_link_), std::move(pending_fallback_));
        return {};
    });
}

/// Collective over the node: arenas of a node are equally large, so that `need` becomes the most of any of its clients.
result<void> mpi_session::most_demanding(arena_need& need) const {
    std::array<uint64_t*, 5> parts = {&need.iteration, &need.passing, &need.constant, &need.largest, &need.blocks};
    std::array<uint64_t, 5> most{};
    for (size_t i = 0; i < parts.size(); ++i) most[i] = *parts[i];
    const int code =
        MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_UINT64_T, MPI_MAX, node_.get());
    for (size_t i = 0; i < parts.size(); ++i) *parts[i] = most[i];
    return outcome_of(code, "MPI_Allreduce");
}

/// When all clients know that there will be no session: the server ends when the last of them has closed, and does not
/// see it by their processes, which go on.
void mpi_session::leave_server() {
    if (client_) {
        static_cast<void>(contained("", [this] { return client_->finish(); }));
    } else if (pending_segment_) {
        const uint32_t own = place().client;
        const segment& shared = *pending_segment_;
        // Those that never joined say nothing.
        for (uint32_t c = 0; c < shared.geometry().clients && own == 0; ++c)
            shared.page(c).closed.store(1, std::memory_order_release);
        shared.page(own).closed.store(1, std::memory_order_release);
        event_record goodbye{};
        goodbye.kind = event_kind::closed;
        static_cast<void>(event_ring::producer(shared.events(own), shared.geometry().event_slots).push(goodbye));
        shared.header().bell.ring();
    }
}

/// Collective over the node. Ends with a segment and a link to its server, or a failure that every client of the node
/// has.
result<void> mpi_session::connect_to_server(const arena_need& need) {
    std::string own_rank, session;
    auto ready = agree_after(node_, [&]() -> result<void> {
        own_rank = std::to_string(all_.rank());
        return {};
    });
    if (!ready) return ready;
    const auto ranks = gather(node_, own_rank);
    if (!ranks) return ranks.why();
    auto led = agree_after(
        node_, [&]() -> result<void> { return node_.rank() == 0 ? lead(need, *ranks, session) : result<void>(); });
    if (!led) return led;
    if (auto sent = broadcast(node_, 0, session); !sent) return sent;
    return agree_after(node_, [&]() -> result<void> {
        if (node_.rank() != 0)
            if (auto joined = join(session); !joined) return joined;
        return pending_segment_->touch(place().client, need);
    });
}

/// What the first client of a node does for all of them: it makes the segment and has the server.
result<void> mpi_session::lead(const arena_need& need, const std::vector<std::string>& ranks, std::string& session) {
    if (auto spills = check_spill_directory(model_); !spills) return spills;
    // The stores' directories have been made and marked by now; another one for the logs may not take any.
    if (!model_.server.log_directory.empty()) {
        server_log log;
        if (auto opened = log.open(model_, directory_, node_writer(node_index_), run_); !opened) return opened;
    }
    auto geometry = plan_segment(model_, static_cast<uint32_t>(node_.size()), need, servers_of_machine_);
    if (!geometry) return geometry.why();
    auto made = segment::create(*geometry, model_.buffer.huge_pages);
    if (!made) return made.why();
    dedicated_cores_ = std::min(cores_left(client_cores_), servers_of_machine_);
    const session_document about = document_for(ranks, *geometry);
    const std::string text = about.to_text();
    auto document = shared_memory::create("halcyon-session", text.size(), false);
    if (!document) return document.why();
    std::memcpy(document->data(), text.data(), text.size());
    if (auto frozen = document->freeze(); !frozen) return frozen;

    const bool in_world = !environment_.world.empty();
    const succession::about first = successors(about.session, 0);
    if (!in_world)
        if (auto started = start_server(environment_, about.session, 1, first.first_patience_ms(), -1); !started)
            return started;
    auto link = server_process::bring(first, *made, std::move(*document));
    if (!link && in_world && link.why().kind == error_kind::unavailable)
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

session_document mpi_session::document_for(const std::vector<std::string>& ranks,
                                           const segment_geometry& geometry) const {
    session_document about;
    about.session = environment_.world.empty() ? random_session_id() : environment_.world;
    about.run = run_;
    about.configuration = configuration_;
    about.configuration_name = configuration_path_;
    about.directory = directory_;
    about.writer = node_writer(node_index_);
    about.node = node_index_;
    about.nodes = nodes_;
    about.ranks = all_.size();
    for (const std::string& r : ranks) about.client_ranks.push_back(std::atoi(r.c_str()));
    about.client_cpus = client_cores_;
    about.server_of_machine = server_of_machine_;
    about.geometry = geometry;
    for (const parameter& p : model_.parameters) about.parameters[p.name] = p.value;
    return about;
}

/// The other clients of a node: the server gives them the segment, and the document that describes it.
result<void> mpi_session::join(const std::string& session) {
    auto received = server_process::join(successors(session, place().client));
    if (!received) return received.why();
    const auto& document = received->link->document();
    auto about = session_document::from_text({reinterpret_cast<const char*>(document.data()), document.size()});
    if (!about) return about.why();
    auto mapped = segment::attach(std::move(received->segment), about->geometry);
    if (!mapped) return mapped.why();
    pending_segment_ = std::make_unique<segment>(std::move(*mapped));
    pending_link_ = std::move(received->link);
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

result<void> mpi_session::mark_unended() {
    auto found = find_unended(all_, node_, node_index_,
                              {client_->iteration(), client_->first_unmarked(), client_->stores_itself()});
    if (!found) return found.why();
    return *found ? inline_->mark_unended(**found) : result<void>{};
}

result<void> mpi_session::close() {
    // Waits since the last iteration ended are in no phase: they are part of closing.
    const int64_t waited_ns = client_->visible_in_no_phase_ns();
    const ending end{realtime_ns() - waited_ns, static_cast<int64_t>(client_->counts().visible_ns) - waited_ns};
    result<void> outcome = contained("", [this] { return client_->finish(); });
    if (steering_)
        if (auto ended = steering_->end(); !ended) outcome = ended;
    const auto handed_over =
        contained("", [this] { return model_.detach_at_close ? client_->detach() : client_->wait_until_drained(); });
    if (!handed_over) outcome = handed_over;
    if (auto marked = contained("", [this] { return mark_unended(); }); !marked) outcome = marked;
    if (!model_.detach_at_close) {
        // Every node has published before the last view is made.
        outcome = agree(all_, outcome);
        if (node_.rank() == 0) client_->release_server(all_.rank() == 0);
        if (all_.rank() == 0 && !client_->wait_until_finished())
            if (auto view = contained("", [this] { return inline_->rebuild_views({}); }); !view && outcome.ok())
                outcome = view;
    }
    if (all_.rank() == 0)
        if (auto written = contained("", [&] { return write_run_file(end); }); !written && outcome.ok())
            outcome = written;
    claims_.clear();
    outcome = agree(all_, outcome, naming::nobody);
    if (link_ != nullptr) link_->stop_watching();
    client_.reset();
    node_.reset();
    machine_.reset();
    all_.reset();
    return outcome;
}

result<std::string> mpi_session::close_without_mpi() {
    result<void> outcome = contained("", [this] { return client_->finish(); });
    std::string became = "handed over";
    if (client_->stores_itself())
        became =
            "stored, but no server makes the view of it: `halcyon view DIR` does, DIR being the directory of the "
            "files, when all processes have ended";
    else if (nodes_ > 1)
        became +=
            "; if the view lacks what other servers stored last, `halcyon view DIR` completes it, DIR being the "
            "directory of the files";
    claims_.clear();
    if (link_ != nullptr) link_->stop_watching();
    client_.reset();
    if (!outcome) return outcome.why();
    return became;
}

}  // namespace halcyon::offload
