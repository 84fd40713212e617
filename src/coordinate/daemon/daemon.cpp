#include "coordinate/daemon/daemon.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "coordinate/protocol/json.hpp"

namespace halcyon::coordinate {
namespace {

constexpr int64_t between_looks_at_listeners_ns = 250'000'000;

double now_s() {
    return static_cast<double>(monotonic_ns()) * 1e-9;
}

/// The usual limit is meant for other programs. Returns how many descriptors there may be.
uint64_t raise_descriptors() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 1024;
    if (files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));
        static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));
    }
    return files.rlim_cur;
}

listen_options options_of(const service& reached) {
    listen_options options;
    options.backlog = 4096;  // so that a user who connects without end leaves room for others
    options.permissions = reached.permissions;
    options.insecure = reached.insecure;
    options.munge_socket = reached.munge_socket;
    return options;
}

bool is_loopback(const socket_address& address) {
    return !address.is_tcp() || address.name == "localhost" || address.name == "::1" ||
           address.name.starts_with("127.");
}

}  // namespace

daemon::daemon(source configuration, coordinator_entry entry, std::unique_ptr<event_loop> loop, int log_to)
    : configuration_(std::move(configuration)),
      entry_(std::move(entry)),
      log_(log_to, entry_.name, counted_.dropped_log_lines),
      loop_(std::move(loop)),
      begin_ns_(monotonic_ns()) {}

result<std::unique_ptr<daemon>> daemon::start(source configuration, int log_to) {
    auto entry = configuration();
    if (!entry) return entry.why();
    auto loop = event_loop::start();
    if (!loop) return loop.why();
    std::unique_ptr<daemon> made(new daemon(std::move(configuration), *entry, std::move(*loop), log_to));
    auto taken = signals::take(*made->loop_);
    if (!taken) return taken.why();
    made->signals_ = std::move(*taken);
    client_handler& handler = *made;
    made->clients_ = std::make_unique<clients>(*made->loop_, handler, made->counted_);
    if (auto done = made->open_listeners(*entry); !done) return done.why();
    if (!entry->by.servers.empty()) {
        if (auto done = made->start_election(); !done) return done.why();
        return made;
    }
    made->epochs_ = std::make_unique<own_epochs>(entry->reached.epoch_file);
    // Only now: a daemon that finds the address taken must not use up an epoch.
    const auto epoch = made->epochs_->next();
    if (!epoch) return epoch.why();
    made->begin_epoch(*epoch);
    return made;
}

result<void> daemon::open_listeners(const coordinator_entry& entry) {
    const service& reached = entry.reached;
    const service& before = entry_.reached;
    const bool same_options = reached.permissions == before.permissions && reached.insecure == before.insecure &&
                              reached.munge_socket == before.munge_socket;
    const auto stands_at = [this](const socket_address& address) {
        return std::ranges::find_if(listeners_, [&](const auto& one) { return one->asked_for() == address; });
    };
    std::vector<std::unique_ptr<listener>> added;
    for (const socket_address& address : reached.listen) {
        if (stands_at(address) != listeners_.end()) {
            if (same_options) continue;
            return failure{
                error_kind::usage,
                address.text() + ": socket-permissions, insecure and munge-socket change with a restart of the daemon",
                0};
        }
        auto opened = listener::open(*loop_, address, options_of(reached), counted_,
                                     [this](listening_socket::accepted from) { clients_->add(std::move(from)); });
        if (!opened) return opened.why();
        added.push_back(std::move(*opened));
    }
    const bool same_metrics = metrics_ && reached.metrics && metrics_->at().asked_for() == *reached.metrics;
    std::unique_ptr<metrics_server> counting;
    if (reached.metrics && !same_metrics) {
        auto opened = open_metrics(reached);
        if (!opened) return opened.why();
        counting = std::move(*opened);
    }
    for (const auto& one : added)
        if (one->socket().address().is_tcp())
            if (auto done = clients_->start_checks(one->socket().authority()); !done) return done;
    // Nothing fails from here on.
    if (!same_metrics) metrics_ = std::move(counting);
    std::erase_if(listeners_, [&](const auto& one) {
        return std::ranges::find(reached.listen, one->asked_for()) == reached.listen.end();
    });
    for (auto& one : added) {
        log_.line("listens at " + one->socket().address().text());
        if (const std::string warning = one->socket().warning(); !warning.empty()) log_.line("warning: " + warning);
        listeners_.push_back(std::move(one));
    }
    clients_->bound_user(reached.most_buffered_bytes_per_user);
    return {};
}

result<std::unique_ptr<metrics_server>> daemon::open_metrics(const service& reached) {
    auto opened =
        metrics_server::open(*loop_, *reached.metrics, reached.permissions, counted_, [this] { return metrics(); });
    if (!opened) return opened;
    const socket_address& at = (*opened)->at().socket().address();
    log_.line("metrics at " + at.text());
    if (!is_loopback(at)) log_.line("warning: everybody who can reach " + at.text() + " can read the metrics");
    return opened;
}

/// No user may take all descriptors.
settings daemon::settings_within_limits() {
    settings how = entry_.how;
    const uint64_t most = std::max<uint64_t>(16, raise_descriptors() / 4);
    if (how.per_user.connections > most) {
        log_.line("a user may have " + std::to_string(most) +
                  " connections, a quarter of the limit of open files, not " +
                  std::to_string(how.per_user.connections));
        how.per_user.connections = static_cast<uint32_t>(most);
    }
    // What the leader before has granted ends by its silence, unless it is shown: agents have two tries after that.
    if (election_) how.relearn_s = std::max(how.relearn_s, lease_silence_s + 2 * reconnect_s + how.heartbeat_s);
    return how;
}

void daemon::end_epoch() {
    if (!machine_) return;
    clients_->finish_all();
    each_count(machine_->counted(), [this](const char* name, auto value, const char*) {
        counted_before_[name] += static_cast<double>(value);
    });
    for (const auto& [reason, count] : machine_->state().decisions_by_reason) decided_before_[reason] += count;
    faults_.begin_epoch();
    gone_.clear();
    machine_.reset();
}

void daemon::begin_epoch(const epoch_source::epoch& epoch) {
    // A batch system announces each job once.
    std::vector<reservation> announced;
    if (machine_) announced = machine_->announced();
    end_epoch();
    const settings how = settings_within_limits();
    machine_ = std::make_unique<coordinator>(how, epoch.number, now_s());
    machine_->take_over(std::move(announced));
    wake_at_s_ = 0;
    ++counted_.epochs;
    if (!epoch.warning.empty()) log_.line("warning: " + epoch.warning);
    for (const std::string& text : warnings_about(how)) log_.line("warning: " + text);
    log_.line("epoch " + std::to_string(epoch.number) + " begins: policy " + policy::name_of(entry_.how.rule) +
              ", metric " + policy::name_of(entry_.how.metric));
}

std::vector<socket_address> daemon::addresses() const {
    std::vector<socket_address> all;
    for (const auto& one : listeners_) all.push_back(one->socket().address());
    return all;
}

bool daemon::came(connection_id id, const peer_identity& who) {
    // Of somebody who only claims to be root nobody knows that.
    const auto& named = entry_.reached.administrators;
    const bool administrator =
        who.by != peer_identity::witness::nobody &&
        (who.uid == 0 || who.uid == ::geteuid() || std::ranges::find(named, who.uid) != named.end());
    if (machine_)
        machine_->connected(id, who.uid, administrator, now_s());
    else
        came_in_vain_.push_back(id);  // the client must not be gone when this returns
    return administrator;
}

void daemon::said(connection_id id, std::string_view line) {
    if (machine_) machine_->received(id, line, now_s());
}

void daemon::waits(connection_id id) {
    if (machine_) machine_->speaks(id, now_s());
}

void daemon::said_too_much(connection_id id) {
    if (machine_) machine_->refused_line(id, now_s());
}

void daemon::went(connection_id id) {
    if (carrying_out_)
        gone_.push_back(id);
    else if (machine_)
        machine_->disconnected(id, now_s());
}

void daemon::look_after_doors(int64_t now_ns) {
    if (now_ns - looked_after_listeners_ns_ < between_looks_at_listeners_ns) return;
    looked_after_listeners_ns_ = now_ns;
    has_files_ = false;
    const auto look_after = [this](listener& one) {
        has_files_ = has_files_ || one.has_file();
        if (const std::string news = one.look_after(); !news.empty()) log_.line(news);
    };
    for (const auto& one : listeners_) look_after(*one);
    if (metrics_) look_after(metrics_->at());
}

result<void> daemon::read_all() {
    const double most_s = has_files_ ? static_cast<double>(between_looks_at_listeners_ns) * 1e-9 : 60.0;
    const double rest_s = std::clamp(wake_at_s_ - now_s(), 0.0, most_s);
    const auto all = clients_->read_all(static_cast<int64_t>(rest_s * 1e9));
    if (!all) return all.why();
    all_read_ = *all;
    return {};
}

void daemon::carry_out(const effects& todo) {
    carrying_out_ = true;  // `todo` is valid until the state machine hears of anything
    for (const effects::outgoing& one : todo.messages)
        if (may_speak()) say(one);
    for (const connection_id id : todo.close) clients_->finish(id);
    wake_at_s_ = todo.wake_at_s;
    carrying_out_ = false;
}

void daemon::say(const effects::outgoing& one) {
    const auto line = encode(one.message);
    if (const auto* const text = std::get_if<std::string>(&line)) return clients_->send(one.to, *text);
    ++counted_.dropped_outgoing;
    log_.line("fault, please report: a message was not sent: " + std::get<rejection>(line).text());
}

void daemon::tell_gone() {
    if (gone_.empty()) return;
    for (const connection_id id : std::exchange(gone_, {})) machine_->disconnected(id, now_s());
    wake_at_s_ = 0;
}

result<void> daemon::run() {
    while (!signals_->end_wanted()) {
        if (auto done = read_all(); !done) return done;
        if (signals_->reload_wanted()) reload();
        if (election_) follow_election();
        bool renew = false;
        if (machine_) {
            carry_out(machine_->speak(now_s()));
            const effects& todo = machine_->advance(now_s(), all_read_);
            renew = todo.new_epoch_needed;
            carry_out(todo);
            tell_gone();
        }
        const int64_t now_ns = monotonic_ns();
        look_after_doors(now_ns);
        clients_->expire(now_ns);
        if (metrics_) metrics_->expire(now_ns);
        if (const std::string news = faults_.news(counted(), counted_, now_ns); !news.empty())
            log_.line("of late: " + news);
        if (!renew) continue;
        if (auto done = renew_epoch(); !done) return done;
    }
    end_election();
    log_.line("ends");
    return {};
}

void daemon::reload() {
    auto entry = configuration_();
    const auto done = entry ? take_over(std::move(*entry)) : result<void>(entry.why());
    if (!done) {
        ++counted_.refused_reloads;
        log_.line("the configuration stays as it was: " + done.why().message);
        return;
    }
    ++counted_.reloads;
    log_.line("the configuration was read again");
}

result<void> daemon::take_over(coordinator_entry entry) {
    if (entry.name != entry_.name)
        return failure{error_kind::usage, "the only coordinator is '" + entry.name + "' now", 0};
    const bool same_settings = entry.how == entry_.how;
    if (election_ || !entry.by.servers.empty()) return take_over_elected(std::move(entry), same_settings);
    auto epochs = std::make_unique<own_epochs>(entry.reached.epoch_file, machine_->state().epoch);
    epoch_source::epoch epoch;
    if (!same_settings) {
        auto next = epochs->next();
        if (!next) return next.why();
        epoch = std::move(*next);
    }
    if (auto done = open_listeners(entry); !done) return done;
    epochs_ = std::move(epochs);
    entry_ = std::move(entry);
    if (!same_settings) begin_epoch(epoch);
    return {};
}

counts daemon::counted() const {
    return machine_ ? machine_->counted() : counts();
}

std::string daemon::metrics() {
    measured what;
    what.name = entry_.name;
    if (machine_) what.state = machine_->state();
    what.state.rule = entry_.how.rule;
    what.leads = machine_ != nullptr;
    what.counted = counted();
    what.of_daemon = counted_;
    what.counted_before = counted_before_;
    for (const auto& [reason, count] : decided_before_) what.state.decisions_by_reason[reason] += count;
    what.buffered_bytes = clients_->buffered_bytes();
    what.connections = clients_->count();
    what.up_s = static_cast<double>(monotonic_ns() - begin_ns_) * 1e-9;
    return metrics_text(what);
}

}  // namespace halcyon::coordinate
