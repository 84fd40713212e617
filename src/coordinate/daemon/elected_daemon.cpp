// What a daemon does where several are elected.
#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "coordinate/daemon/daemon.hpp"

namespace halcyon::coordinate {

daemon::~daemon() {
    end_election();
}

/// etcd is told, so that another daemon leads at once: this one must have stopped.
void daemon::end_election() {
    if (!election_) return;
    loop_->remove(election_watch_);
    election_.reset();
}

/// Of the addresses that clients try, the one where this daemon listens.
std::string daemon::own_address() const {
    const auto& listen = entry_.reached.listen;
    const auto found = std::ranges::find_first_of(entry_.addresses, listen);
    return found != entry_.addresses.end() ? found->text() : listen.front().text();
}

result<void> daemon::start_election() {
    auto made = election::start({entry_.by.servers, entry_.by.prefix, entry_.by.lease_s, own_address()});
    if (!made) return made.why();
    auto watch = loop_->add((*made)->fd(), EPOLLIN, [](uint32_t) {} /* follow_election() looks */);
    if (!watch) return watch.why();
    election_ = std::move(*made);
    election_watch_ = *watch;
    log_.line("stands by at " + own_address() + " until etcd elects it");
    return {};
}

bool daemon::may_speak() const {
    return !election_ || election::now_ns() < elected_.until_ns;
}

void daemon::follow_election() {
    const std::string led_before = elected_.leader;
    elected_ = election_->look();
    for (const std::string& text : election_->news()) log_.line("warning: " + text);
    if (machine_ && (elected_.epoch != led_epoch_ || !may_speak()))
        step_down("the coordinator has lost its lease at etcd", true);
    if (elected_.epoch == 0 && elected_.leader != led_before && !elected_.leader.empty())
        log_.line(elected_.leader + " leads");
    if (!machine_ && elected_.epoch > led_epoch_ && may_speak()) {
        led_epoch_ = elected_.epoch;
        begin_epoch({elected_.epoch, ""});
    }
    // Also those that came in the round in which a term begins: it knows nothing of them, and they come again.
    for (const connection_id id : std::exchange(came_in_vain_, {})) send_on(id);
    if (machine_) return;
    wake_at_s_ = static_cast<double>(monotonic_ns() + 1'000'000'000) * 1e-9;
}

/// Leases are void: a lost one is said to be, though nobody need hear of it. One that is given back on purpose is
/// shown to the next leader.
void daemon::step_down(const char* reason, bool was_lost) {
    if (was_lost) {
        ++counted_.lost_terms;
        for (const effects::outgoing& one : machine_->resign(reason).messages) say(one);
    }
    log_.line("stands by, epoch " + std::to_string(led_epoch_) + " is over: " + reason);
    end_epoch();
    election_->resign(led_epoch_);
}

result<void> daemon::renew_epoch() {
    if (election_) {
        step_down("its fencing numbers are used up", false);
        return {};
    }
    const auto epoch = epochs_->next();
    if (!epoch) return epoch.why();
    begin_epoch(*epoch);
    return {};
}

void daemon::send_on(connection_id id) {
    ++counted_.sent_on;
    const std::string where =
        elected_.leader.empty() ? "no daemon leads at present; try again" : "the coordinator is at " + elected_.leader;
    say({id, refused{"this daemon stands by: " + where, 0}});
    clients_->finish(id);
}

result<void> daemon::take_over_elected(coordinator_entry entry, bool same_settings) {
    if (entry.by != entry_.by || entry.addresses != entry_.addresses)
        return failure{error_kind::usage, "'elect' and 'address' change with a restart of the daemon", 0};
    if (auto done = open_listeners(entry); !done) return done;
    entry_ = std::move(entry);
    if (!same_settings && machine_) step_down("its configuration has changed", false);
    return {};
}

}  // namespace halcyon::coordinate
