#include "programs/server_core.hpp"

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "offload/output/output_writer.hpp"
#include "offload/output/server_log.hpp"
#include "offload/output/socket_file.hpp"
#include "offload/server/connections.hpp"
#include "offload/server/node_server.hpp"
#include "programs/free_core.hpp"

namespace halcyon {
namespace {

using namespace offload;

constexpr int segment_patience_ms = 20'000;

bool claim(const segment& shared, uint32_t generation) {
    tenure_word& word = shared.header().tenure;
    const tenure now = word.load();
    return now.generation == generation && now.now == tenure::phase::appointed &&
           word.change(now, now.with(tenure::phase::taking_over));
}

}  // namespace

int serve_node(descriptor listening, uint32_t generation, job_events* job, shared_files* files,
               const std::function<std::unique_ptr<turn>()>& coordinated) {
    server_log log;
    connections peers(std::move(listening));
    auto luggage = peers.receive_segment(segment_patience_ms);
    if (!luggage) return 1;
    // The bringer waits for a welcome: it is told why there is none, and so is the log.
    const auto give_up = [&](const failure& why) {
        static_cast<void>(log.line(why.message));
        peers.refuse(why);
        return 1;
    };
    auto document_memory = shared_memory::map(std::move(luggage->document), 0, false);
    if (!document_memory) return give_up(document_memory.why());
    auto document =
        session_document::from_text({reinterpret_cast<const char*>(document_memory->data()), document_memory->size()});
    if (!document) return give_up(document.why());
    auto shared = segment::attach(std::move(luggage->segment), document->geometry);
    if (!shared) return give_up(shared.why());
    // Nothing of the session is touched before, no file either: an earlier server may be at work, or a later one.
    if (!claim(*shared, generation))
        return give_up({error_kind::unavailable, "this server is not the one that the clients appointed", 0});
    auto data = parse_model(document->configuration, document->configuration_name, document->parameters);
    if (!data) return give_up(data.why());
    // Without a log it serves all the same: its notes fail, and so get into the counts.
    static_cast<void>(log.open(*data, document->directory, document->writer, document->run));
    log.take_standard_output();
    const auto say = [&log](const std::string& text) { static_cast<void>(log.line(text)); };
    say("server " + std::to_string(generation) + " of session " + document->session.substr(0, 8) + ", process " +
        std::to_string(::getpid()) + ", node " + std::to_string(document->node) + ", " +
        std::to_string(document->geometry.clients) + " client(s)");
    const core_taken core = take_free_core(document->client_cpus, document->server_of_machine);
    say(core.said);
    // Before any client is served, so that a session that is open can be steered.
    std::unique_ptr<socket_file> found;
    if (document->node == 0 && document->geometry.steerable > 0) {
        found = std::make_unique<socket_file>();
        auto told = found->publish(records_directory(*data, document->directory), document->writer, document->run,
                                   socket_name(document->session, generation));
        if (!told) say("nobody can steer this run: " + told.why().message);
    }
    const int segment_fd = shared->fd();
    const int document_fd = document_memory->fd();
    const uint32_t clients = document->geometry.clients;
    auto handed_in = data->server.turns == turns::coordinator && coordinated ? coordinated() : nullptr;
    node_server::launch l{std::move(*data),
                          std::move(*document),
                          std::move(*shared),
                          generation,
                          core.own,
                          &peers,
                          [&log](const std::string& text) { return log.line(text); },
                          job,
                          files,
                          std::move(handed_in),
                          std::move(found)};
    auto server = node_server::start(std::move(l));
    if (!server) return give_up(server.why());
    node_server& s = **server;
    auto served = peers.serve(clients, generation, segment_fd, document_fd,
                              {[&s](uint32_t c) { s.client_joined(c); },
                               [&s](uint32_t c, descriptor file) { s.client_brought_spill(c, std::move(file)); },
                               [&s](uint32_t c) { s.client_ended(c); }, say,
                               [&s](const steering::peer& from, auto text) { s.steered(from, std::move(text)); },
                               [&s](const steering::peer& gone) { s.steerer_left(gone); }});
    if (!served) {
        say(served.why().message);
        return 1;
    }
    const int status = s.run();
    log.stop_following();
    peers.stop();
    say("done");
    return status;
}

}  // namespace halcyon
