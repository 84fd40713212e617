#include "offload/client/completion.hpp"

#include <cerrno>
#include <cstring>
#include <string>

namespace halcyon::offload {

result<void> completion::wait(int64_t iteration, stage which) {
    if (which == stage::accepted) return {};
    if (serverless()) return wait_without_server(iteration, which);
    segment_header& h = segment_->header();
    auto& wanted = which == stage::durable ? h.durable_wanted : h.stored_wanted;
    const auto& reached = which == stage::durable ? h.durable_through : h.stored_through;
    for (int64_t now = wanted.load(); now < iteration && !wanted.compare_exchange_weak(now, iteration);) {
    }
    const server_channel& channel = *channel_;
    if (!channel_->wait_until([&] { return reached.load(std::memory_order_acquire) >= iteration; },
                              [&] { return serverless() || !channel.still_served(); }))
        return loss_.has_happened() ? wait_without_server(iteration, which) : channel.still_served();
    // What could not be written or synced counts as well when nobody waited for it then.
    if (h.lost_from.load(std::memory_order_acquire) <= iteration)
        return failure{error_kind::system,
                       "files could not be written or were lost: " +
                           std::string(h.last_error, strnlen(h.last_error, sizeof h.last_error)),
                       EIO};
    return {};
}

/// Without a server: what this client still holds goes into its files.
result<void> completion::wait_without_server(int64_t iteration, stage which) {
    if (auto done = fallback_.flush(); !done) return done;
    const result<void>& lost = loss_.outcome();
    if (!lost && iteration > segment_->header().ledger.read().stored_through) return lost;
    if (auto all = fallback_.all_stored(iteration); !all) return all;
    if (which != stage::durable) return {};
    // A server that was lost may have stored without syncing; with `inline: true` there never was one.
    return fallback_.sync(segment_ ? fallback_writer::reach::node : fallback_writer::reach::own);
}

result<void> completion::finish_without_server() {
    auto finished = fallback_.finish();
    return loss_.outcome() ? finished : loss_.outcome();
}

result<void> completion::wait_until_drained() {
    if (loss_.has_happened()) return loss_.outcome();
    const segment_header& h = segment_->header();
    if (!channel_->wait_until([&] { return h.state.load(std::memory_order_acquire) >= server_state::drained; },
                              [&] { return serverless(); }))
        return finish_without_server();
    if (auto served = channel_->still_served(); !served) return served;
    const auto why = [&h] { return std::string(h.last_error, strnlen(h.last_error, sizeof h.last_error)); };
    if (const uint32_t failed = h.failed_files.load(std::memory_order_acquire); failed > 0)
        return failure{error_kind::system,
                       "files could not be written or were lost, and with them their blocks (" +
                           std::to_string(failed) + " time(s)): " + why(),
                       EIO};
    if (h.unsaved_counts.load(std::memory_order_acquire) != 0)
        return failure{error_kind::system,
                       "all files are written, but not the counts that say what is missing in them: " + why(), EIO};
    return {};
}

result<void> completion::detach() {
    if (loss_.has_happened()) return loss_.outcome();
    // First the word, then the look: whoever sees the server end after the look finds the word.
    client_page& page = segment_->page(client_);
    server_channel& channel = *channel_;
    page.detached.store(1);
    const segment_header& h = segment_->header();
    // One that was killed may not have ended yet; it takes nothing any more. One that has stored everything may have
    // gone before this client looked: nobody follows it.
    const auto knows_of_everything = [&] {
        return link_->available() && channel.still_served() &&
               static_cast<int64_t>(page.iterations_taken.load(std::memory_order_acquire)) >= now_.number() &&
               (link_->has_server() || h.state.load(std::memory_order_acquire) == server_state::finished);
    };
    const auto cannot = [&] { return !link_->available() || !channel.still_served(); };
    if (channel.wait_until(knows_of_everything, cannot)) return {};
    if (link_->available()) return channel.still_served();
    if (!loss_.notice_detached(channel.signals_sent())) return {};  // another client has done it
    return finish_without_server();
}

bool completion::wait_until_finished() {
    if (loss_.has_happened()) return false;
    const segment_header& h = segment_->header();
    return channel_->wait_until([&] { return h.state.load(std::memory_order_acquire) == server_state::finished; },
                                [&] { return !link_->available(); });
}

}  // namespace halcyon::offload
