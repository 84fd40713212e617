#include "coordinate/agent/agent_loop.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/clock.hpp"
#include "base/event_loop.hpp"
#include "base/unix_socket.hpp"
#include "coordinate/agent/agent_facts.hpp"
#include "coordinate/agent/cache_cleaner.hpp"
#include "coordinate/agent/coordinator_link.hpp"
#include "coordinate/agent/page_bell.hpp"
#include "coordinate/agent/turn_agent.hpp"
#include "coordinate/page/node_name.hpp"

namespace halcyon::coordinate {

namespace {

/// One file system.
struct coordinated {
    coordinated(const coordinated_mount& mount, turn_agent::settings how, int bell, double now_s)
        : agent(std::move(how), now_s), cleaner(mount.path, bell) {}

    turn_agent agent;
    cache_cleaner cleaner;
    std::unique_ptr<coordinator_link> link;
};

class running_agent {
  public:
    explicit running_agent(const agent_loop_settings& with) : with_(with), facts_(with.facts_directory, with.node) {}

    result<void> start();
    result<void> run();

  private:
    result<void> open_socket();
    result<void> watch_socket();
    void close_socket();
    void open_socket_again();
    result<void> add_mount(size_t at, double now_s);
    /// A shorter one would pass between two heartbeats, and nothing were coordinated.
    [[nodiscard]] double patience_s() const { return std::max(with_.page.patience_s, lease_silence_s); }
    void hand_out_page();
    void turn();
    void advance(size_t at, int64_t now_ns);
    void give_back_elsewhere(size_t waiting, int64_t now_ns);
    [[nodiscard]] bool is_over(int64_t now_ns);
    void tell_facts(int64_t now_ns, bool is_end);

    const agent_loop_settings& with_;
    agent_facts facts_;
    agent_page page_;
    std::unique_ptr<event_loop> loop_;
    descriptor listening_, bell_;
    event_loop::watch listening_watch_ = event_loop::watch::none;
    std::vector<std::unique_ptr<coordinated>> all_;
    std::unique_ptr<page_bell> ringer_;
    uint64_t bells_missing_ = 0;
    int64_t started_ns_ = 0, empty_since_ns_ = 0, looked_for_dead_ns_ = 0;
    double wake_at_s_ = 0;
    bool had_processes_ = false;
};

result<void> running_agent::add_mount(size_t at, double now_s) {
    turn_agent::settings how;
    how.job.job = with_.job.name;
    how.job.secret = with_.job.secret;
    how.job.processes = with_.job.processes;
    how.job.nodes = with_.job.nodes;
    how.job.node = node_name(with_.node, node_identity::of_this_process());
    how.job.mount = at;
    how.job.account = with_.account;
    how.patience_s = patience_s();
    how.pause_s = with_.page.pause_s;
    how.behind_s = with_.behind_s;
    const coordinated_mount& mount = with_.mounts[at];
    all_.push_back(std::make_unique<coordinated>(mount, how, bell_.get(), now_s));
    coordinated& added = *all_.back();
    const auto now = [] { return in_seconds(monotonic_ns()); };
    const std::string name = how.job.job + '\n' + how.job.node + '\n' + mount.path;
    line_client::options asks;
    asks.munge_socket = mount.munge_socket;
    asks.may_be_insecure = !mount.needs_munge;
    asks.server_user = mount.user;
    auto link = coordinator_link::start(*loop_, mount.addresses, std::move(asks), name,
                                        {.connected = [&added, now] { added.agent.connected(now()); },
                                         .received =
                                             [&added, at, this](const from_coordinator& message, int64_t heard_ns) {
                                                 if (added.agent.received(message, in_seconds(heard_ns)))
                                                     page_.heard(at, heard_ns);
                                             },
                                         .disconnected = [&added, now] { added.agent.disconnected(now()); },
                                         .failed = [&added](const std::string& why) { added.agent.not_connected(why); },
                                         .late = [&added] { added.agent.came_late(); }});
    if (!link) return link.why();
    added.link = *std::move(link);
    return {};
}

result<void> running_agent::open_socket() {
    std::array<char, 96> name{};
    with_.job.name_socket(name.data(), name.size());
    auto listening = listen_abstract(name.data(), 512);
    if (!listening) return listening.why();
    listening_ = *std::move(listening);
    return {};
}

result<void> running_agent::watch_socket() {
    auto watch = loop_->add(listening_.get(), EPOLLIN, [this](uint32_t) { hand_out_page(); });
    if (!watch) return watch.why();
    listening_watch_ = *watch;
    return {};
}

/// Later processes start another agent, which has the place at the coordinator from now on.
void running_agent::close_socket() {
    loop_->remove(listening_watch_);
    listening_.reset();
    for (const auto& one : all_) one->agent.withdraw();
}

/// A process that had the page before has come to its place in it: those that come now must find this agent, too. Where
/// another one has the socket, that one takes the job's turns on this node, and this page stays closed.
void running_agent::open_socket_again() {
    if (!open_socket()) return;
    if (!watch_socket()) return listening_.reset();
    for (const auto& one : all_) {
        one->link->close();  // the next connection registers
        one->agent.stay();
    }
}

result<void> running_agent::start() {
    if (auto opened = open_socket(); !opened) return opened;
    agent_page::settings how = with_.page;
    how.patience_s = patience_s();
    how.mounts.clear();
    for (const coordinated_mount& one : with_.mounts) how.mounts.push_back(one.path);
    auto page = agent_page::create(how);
    if (!page) return page.why();
    page_ = *std::move(page);
    auto loop = event_loop::start();
    if (!loop) return loop.why();
    loop_ = *std::move(loop);
    bell_ = descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!bell_) return system_failure("eventfd", errno);
    if (auto watched = watch_socket(); !watched) return watched;
    const auto hear_bell = [this](uint32_t) {
        uint64_t count = 0;
        static_cast<void>(::read(bell_.get(), &count, sizeof count) == sizeof count);
    };
    if (auto bell = loop_->add(bell_.get(), EPOLLIN, hear_bell); !bell) return bell.why();
    started_ns_ = empty_since_ns_ = monotonic_ns();
    for (size_t i = 0; i < with_.mounts.size(); ++i) {
        if (auto added = add_mount(i, in_seconds(started_ns_)); !added) return added;
        page_.heard(i, started_ns_);
    }
    turn();
    ringer_ = std::make_unique<page_bell>(page_.shared().bell, bell_.get());
    return {};
}

void running_agent::hand_out_page() {
    auto process = accept_checked(listening_.get());
    if (!process) return;
    const uint64_t bytes = sizeof(page);
    const int fd = page_.fd();
    static_cast<void>(send_message(process->get(), std::as_bytes(std::span(&bytes, 1)), std::span(&fd, 1)));
}

void running_agent::advance(size_t at, int64_t now_ns) {
    coordinated& one = *all_[at];
    if (one.cleaner.take_done()) one.agent.caches_clean();
    if (page_.was_replaced(at)) one.agent.page_was_replaced();
    if (listening_) one.link->care(now_ns);  // else it has withdrawn
    for (bool again = true; again;) {
        one.agent.observed(page_.observe(at, one.agent.stop_round(), now_ns));
        const agent_effects& todo = one.agent.advance(in_seconds(now_ns));
        page_.tell_others_move(at, todo.others_move);
        page_.tell_targets(at, todo.lists_targets, todo.targets_told);
        if (todo.page) page_.publish(at, todo.page->to, todo.page->stop_round, todo.page->bytes);
        if (todo.longest_wait_s && with_.asks_for_starvation) page_.limit_waits(at, *todo.longest_wait_s);
        if (todo.wait) page_.tell_wait(at, todo.wait->expected_s, todo.wait->holders, todo.wait->in_phase);
        page_.tell_no_turn_reason(at, one.agent.no_turn_reason());
        if (todo.clean_caches) one.cleaner.begin(page_.process_ids());
        again = todo.look_again;
        if (!again) wake_at_s_ = std::min(wake_at_s_, todo.wake_at_s);
        const bool closes = todo.close;
        // The link may tell of a break meanwhile, which is for the next turn.
        const std::vector<to_coordinator> messages = todo.messages;
        for (const to_coordinator& message : messages)
            if (const auto sent = one.link->send(message); !sent) one.agent.not_sent(message, sent.why().message);
        if (closes) one.link->close();
    }
}

void running_agent::give_back_elsewhere(size_t waiting, int64_t now_ns) {
    for (size_t i = 0; i < all_.size(); ++i) {
        if (i != waiting && all_[i]->agent.give_back_if_quiet()) advance(i, now_ns);
    }
}

void running_agent::turn() {
    const int64_t now_ns = monotonic_ns();
    page_.beat(now_ns);
    constexpr int64_t between_looks_ns = 500'000'000;
    if (now_ns - looked_for_dead_ns_ > between_looks_ns) {
        page_.free_dead([this](const process_slot& slot) { facts_.tell_of_dead(page_, slot); });
        looked_for_dead_ns_ = now_ns;
    }
    wake_at_s_ = in_seconds(now_ns) + 0.25;
    for (size_t i = 0; i < all_.size(); ++i) {
        advance(i, now_ns);
        if (all_[i]->agent.waits()) give_back_elsewhere(i, now_ns);
    }
    tell_facts(now_ns, false);
}

bool running_agent::is_over(int64_t now_ns) {
    const auto cleans_up = [](const auto& one) { return one->agent.cleans_up(); };
    if (page_.processes() > 0 || std::ranges::any_of(all_, cleans_up)) {
        empty_since_ns_ = now_ns;
        return false;
    }
    return in_seconds(now_ns - empty_since_ns_) > (had_processes_ ? with_.linger_s : with_.first_process_s);
}

result<void> running_agent::run() {
    while (true) {
        if (is_over(monotonic_ns())) {
            if (!listening_) break;
            close_socket();
            empty_since_ns_ = monotonic_ns();  // a process may have the page already, and no place in it yet
        } else if (!listening_ && page_.processes() > 0) {
            open_socket_again();
        }
        const bool rings = ringer_->start();
        bells_missing_ += rings ? 0 : 1;
        ringer_->arm();
        turn();
        constexpr double between_looks_s = 0.01;  // at processes that cannot ring
        double wait_s = std::max(wake_at_s_ - in_seconds(monotonic_ns()), 0.0);
        if (!rings) wait_s = std::min(wait_s, between_looks_s);
        if (auto ran = loop_->run_once(static_cast<int64_t>(wait_s * 1e9)); !ran) return ran;
        ringer_->disarm();
    }
    for (const auto& one : all_) one->agent.withdraw();
    turn();
    tell_facts(monotonic_ns(), true);
    return {};
}

void running_agent::tell_facts(int64_t now_ns, bool is_end) {
    had_processes_ = had_processes_ || page_.processes() > 0;
    // Until then, the one that started this agent is about to come.
    const size_t untold = had_processes_ || is_end ? page_.untold() : 1;
    if (!is_end && !facts_.is_due(untold, now_ns)) return;
    std::ostringstream text, faults;
    const auto add = [&](std::string_view name, const auto& value) {
        text << name << " " << value << "\n";
        if (!is_ordinary(name)) faults << name << " " << value << "\n";
    };
    add("without_place", page_.shared().refused.load());
    add("patience_raised", patience_s() > with_.page.patience_s ? 1 : 0);
    add("facts_dropped", facts_.dropped());
    add("threads_missing", bells_missing_ + facts_.threads_missing());
    for (size_t i = 0; i < all_.size(); ++i) {
        coordinated& one = *all_[i];
        add("mount", with_.mounts[i].path);
        each_count(one.agent.counted(), add);
        if (!one.agent.last_reason().empty()) add("last_reason", one.agent.last_reason());
        if (!one.agent.connect_failure().empty()) add("connect_failure", one.agent.connect_failure());
        add("misunderstood", one.link->misunderstood());
        add("threads_missing", one.link->threads_missing() + one.cleaner.threads_missing());
        add("stops_uncleaned", one.cleaner.uncleaned());
    }
    facts_.tell(untold, text.str(), faults.str(), is_end, now_ns);
}

/// Of a variable, without empty ones; each must be PATH=`value`.
result<std::vector<std::string>> lines_of(const std::string& text, const char* variable, const char* value) {
    std::vector<std::string> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.empty()) continue;
        if (line.front() != '/' || line.find('=') == std::string::npos || line.back() == '=')
            return failure{error_kind::config,
                           std::string(variable) + ": '" + line + "' is not PATH=" + value + " with an absolute path",
                           0};
        found.push_back(line);
    }
    return found;
}

/// Takes the words behind the addresses off. False: one that is not known, which might forbid something.
bool take_words(coordinated_mount& mount) {
    std::istringstream in(mount.addresses);
    std::getline(in, mount.addresses, '\t');
    for (std::string word; std::getline(in, word, '\t');) {
        if (word == "munge") {
            mount.needs_munge = true;
            continue;
        }
        constexpr std::string_view before = "user:";
        if (!word.starts_with(before)) return false;
        uid_t user = 0;
        const char* const end = word.data() + word.size();
        const auto [read_to, why] = std::from_chars(word.data() + before.size(), end, user);
        if (why != std::errc{} || read_to != end) return false;
        mount.user = user;
    }
    return true;
}

std::string without_slashes_at_end(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

}  // namespace

result<std::vector<coordinated_mount>> parse_mounts(const std::string& lines, const std::string& munge_sockets) {
    const auto mounts = lines_of(lines, "HALCYON_COORDINATORS", "ADDRESS");
    if (!mounts) return mounts.why();
    const auto sockets = lines_of(munge_sockets, "HALCYON_MUNGE_SOCKETS", "SOCKET");
    if (!sockets) return sockets.why();
    std::vector<coordinated_mount> found;
    for (const std::string& line : *mounts) {
        // Paths and names of sockets may hold '=', too.
        const size_t equals = std::min(line.find("=unix:"), line.find("=tcp:"));
        if (equals == std::string::npos)
            return failure{error_kind::config,
                           "HALCYON_COORDINATORS: '" + line + "' names no address; expected PATH=unix:… or PATH=tcp:…",
                           0};
        found.push_back({without_slashes_at_end(line.substr(0, equals)), line.substr(equals + 1)});
        if (!take_words(found.back()))
            return failure{
                error_kind::config,
                "HALCYON_COORDINATORS: '" + line + "' has an unknown word behind a tab; expected munge or user:UID", 0};
        const std::string begins = found.back().path + "=";
        for (const std::string& one : *sockets)
            if (one.starts_with(begins)) found.back().munge_socket = one.substr(begins.size());
    }
    return found;
}

result<void> run_agent(const agent_loop_settings& with, const std::function<void(const result<void>&)>& ready) {
    running_agent agent(with);
    auto started = agent.start();
    const bool is_there = !started && started.why().system_errno == EADDRINUSE;
    ready(is_there ? result<void>() : started);
    return started ? agent.run() : started;
}

}  // namespace halcyon::coordinate
