#include "offload/client/inline_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <numeric>

#include "base/clock.hpp"
#include "offload/model/unstored.hpp"
#include "offload/output/server_log.hpp"

namespace halcyon::offload {

result<void> inline_writer::open() {
    if (output_) return {};
    const std::string directory = records_directory(data_, where_.directory);
    const std::string writer = client_writer(where_.rank);
    auto records = run_records::open(directory, writer, where_.run);
    if (!records) return records.why();
    records_ = std::make_unique<run_records>(std::move(*records));
    auto actions = std::make_unique<action_runner>(
        data_, action_runner::surroundings{directory, where_.node, where_.nodes,
                                           [this](const std::string& line) { say(line); }});
    if (where_.alone)
        if (auto loaded = actions->load_modules(where_.directory); !loaded) return loaded;
    auto output = output_writer::open(data_, where_.directory, writer, where_.ranks, where_.run);
    if (!output) return output.why();
    actions_ = std::move(actions);
    output_ = std::move(*output);
    stores_.resize(data_.stores.size());
    if (const std::string unstored = unstored_warning(data_); !unstored.empty()) say(unstored);
    return records_->save(counts_);
}

result<void> inline_writer::store_now(const variable& v, int block, int64_t iteration, const block_shape& shape,
                                      std::span<const std::byte> data) {
    if (auto opened = open(); !opened) return opened;
    for (uint32_t s = 0; s < data_.stores.size(); ++s) {
        if (data_.stores[s].name != v.store) continue;
        output_writer::request r;
        r.store = s;
        r.iterations = {iteration};
        r.blocks.push_back({&v, iteration, where_.rank, block, shape, data});
        r.part = output_->next_part(s, iteration);
        if (auto done = write(std::move(r), realtime_ns()); !done) return done;
        ++counts_.blocks;
        counts_.bytes += shape.bytes;
        save_counts();
        return {};
    }
    return {};  // a variable that no store wants
}

result<void> inline_writer::store_left(left_blocks left) {
    if (auto opened = open(); !opened) return opened;
    say("stored " + std::to_string(left.blocks.size()) + " block(s) of iteration " + std::to_string(left.iteration) +
        " of rank " + std::to_string(left.rank) + ", which has ended");
    counts_.missing_blocks += static_cast<int64_t>(left.lost.size());
    result<void> outcome;
    for (uint32_t s = 0; s < data_.stores.size(); ++s) {
        output_writer::request r;
        r.store = s;
        r.iterations = {left.iteration};
        r.part = output_->next_part(s, left.iteration);
        const auto of_store = [&](uint32_t variable) {
            return data_.variables[variable].store == data_.stores[s].name;
        };
        std::copy_if(left.blocks.begin(), left.blocks.end(), std::back_inserter(r.blocks),
                     [&](const block_view& b) { return of_store(b.var->id); });
        std::copy_if(left.lost.begin(), left.lost.end(), std::back_inserter(r.missing),
                     [&](const missing_block& m) { return of_store(m.variable_id); });
        if (r.blocks.empty() && r.missing.empty()) continue;
        const auto blocks = static_cast<int64_t>(r.blocks.size());
        int64_t bytes = 0;
        for (const block_view& b : r.blocks) bytes += b.shape.bytes;
        if (auto done = write(std::move(r), realtime_ns()); !done) {
            outcome = done;
            ++counts_.failed_files;
            counts_.missing_blocks += blocks;
            continue;
        }
        counts_.blocks += blocks;
        counts_.bytes += bytes;
    }
    save_counts();
    return outcome;
}

result<void> inline_writer::add(const variable& v, int block, int64_t iteration, const block_shape& shape,
                                std::span<const std::byte> data) {
    if (auto opened = open(); !opened) return opened;
    kept_.push_back({{&v, iteration, where_.rank, block, shape, {}}, {data.begin(), data.end()}});
    ++counts_.blocks;
    counts_.bytes += shape.bytes;
    if (data_.stores.empty()) {
        ++counts_.unstored_blocks;
        counts_.unstored_bytes += shape.bytes;
    }
    return {};
}

result<void> inline_writer::note_missing(const variable& v, int block, int64_t iteration, absence::cause why) {
    if (auto opened = open(); !opened) return opened;
    const bool uncommitted = why == absence::cause::uncommitted;
    missing_.push_back({v.id, iteration, where_.rank, block,
                        uncommitted ? missing_block::why::uncommitted : missing_block::why::skipped});
    ++counts_.missing_blocks;
    if (uncommitted) say(uncommitted_text(where_.rank, v, block));
    return {};
}

result<void> inline_writer::end_iteration(int64_t iteration) {
    if (auto opened = open(); !opened) return opened;
    ++counts_.iterations;
    result<void> outcome;
    for (uint32_t s = 0; s < stores_.size(); ++s) {
        store_state& state = stores_[s];
        state.pending.push_back(iteration);
        const bool full = static_cast<int>(state.pending.size()) >= data_.stores[s].iterations_per_file;
        if (!full && state.pending.front() > state.wanted) continue;
        if (auto done = write_store(s); !done) outcome = done;
    }
    if (stores_.empty()) kept_.clear();
    return outcome;
}

result<void> inline_writer::add_phase(int64_t iteration, const phase& seen) {
    if (auto opened = open(); !opened) return opened;
    records_->add(phase_record{iteration, where_.rank, seen.begin_ns, seen.visible_ns, seen.blocked_ns, seen.compute_ns,
                               seen.bytes});
    return {};
}

result<void> inline_writer::add_steering(const steering_record& s) {
    if (auto opened = open(); !opened) return opened;
    log(s.text());
    records_->add(s);
    return {};
}

result<void> inline_writer::count_lost(int64_t signals, int64_t phases) {
    if (signals == 0 && phases == 0) return {};
    if (auto opened = open(); !opened) return opened;
    counts_.lost_signals += signals;
    counts_.lost_records += phases;
    if (signals > 0) say(std::to_string(signals) + " signal(s) were sent to a server that ended before it took them");
    return records_->save(counts_);
}

result<void> inline_writer::count_policies(const policy_counts& of_client) {
    if (of_client == policy_counts{}) return {};
    if (auto opened = open(); !opened) return opened;
    counts_ += of_client;
    return records_->save(counts_);
}

result<void> inline_writer::signal(const event& e, int64_t iteration) {
    if (auto opened = open(); !opened) return opened;
    result<void> outcome;
    for (const uint32_t id : e.action_ids)
        for (uint32_t s = 0; s < data_.stores.size(); ++s)
            if (data_.actions[id].type == "store" && data_.actions[id].store == data_.stores[s].name) {
                stores_[s].wanted = iteration;
                if (auto done = write_store(s); !done) outcome = done;
            }
    std::vector<block_view> views;
    for (const kept_block& k : kept_)
        if (k.view.iteration == iteration) {
            views.push_back(k.view);
            views.back().data = k.data;
        }
    // As on a server: an action that fails is counted, and the simulation goes on.
    if (auto done = actions_->run(e, {iteration, e.scope == scope::client ? where_.rank : -1, views}); !done) {
        ++counts_.failed_actions;
        say_once(done.why().message);
    }
    return outcome;
}

result<void> inline_writer::settle_server(run_counts counted, int64_t phases_taken) {
    if (auto opened = open(); !opened) return opened;
    const std::string writer = node_writer(where_.node);
    auto outcome = output_->publish_left_by(writer);
    auto records = run_records::open(records_directory(data_, where_.directory), writer, where_.run);
    if (!records) return records.why();
    run_counts saved = records->saved_counts();
    counted.lost_records = std::max(saved.lost_records, phases_taken - records->phase_lines());
    counted.switches = std::move(saved.switches);
    counted.messages = std::move(saved.messages);
    counted.messages.push_back("the last server ended; its clients stored the rest by themselves");
    if (auto done = records->save(counted); !done) outcome = done;
    records->release();
    return outcome;
}

void inline_writer::log(const std::string& line) {
    server_log of_node;
    // Where there is no log any more, standard error has the line; the servers' counts say why.
    static_cast<void>(of_node.open(data_, where_.directory, node_writer(where_.node), where_.run));
    static_cast<void>(of_node.line("rank " + std::to_string(where_.rank) + ": " + line));
}

result<void> inline_writer::flush() {
    if (!output_) return {};
    result<void> outcome;
    for (uint32_t s = 0; s < stores_.size(); ++s)
        if (auto done = write_store(s); !done) outcome = done;
    return outcome;
}

result<void> inline_writer::all_stored(int64_t through) const {
    if (lost_from_ > through) return {};
    return failure{error_kind::system,
                   std::to_string(counts_.failed_files + counts_.lost_files) +
                       " file(s) could not be written or were lost, and with them their blocks: " + why_lost_,
                   EIO};
}

/// Files of clients on other nodes are synced there; here that costs a call, and no word says which they are.
result<void> inline_writer::sync(reach whose) {
    if (whose == reach::own) return output_ ? output_->sync({}) : result<void>{};
    if (auto opened = open(); !opened) return opened;
    return output_->sync([server = node_writer(where_.node)](const std::string& writer) {
        return writer == server || writer == all_servers || writer.starts_with('c');
    });
}

result<void> inline_writer::finish() {
    if (!output_) return {};
    auto outcome = flush();
    look_for_lost_directories();
    const auto missing = output_->missing_files();
    if (!missing) {
        say("what was stored cannot be looked over: " + missing.why().message);
    } else if (*missing > 0 && !counts_.finished) {
        counts_.lost_files += *missing;
        say(std::to_string(*missing) + " file(s) of this client were deleted or moved while the run went on");
    }
    counts_.finished = true;
    if (auto saved = records_->save(counts_); !saved) outcome = saved;
    // The next session may begin as soon as rank 0 knows that all have come to this point.
    output_->release_directories();
    if (auto all = all_stored(INT64_MAX - 1); !all) outcome = all;
    return outcome;
}

result<void> inline_writer::mark_unended(const unended_iterations& found) {
    if (auto opened = open(); !opened) return opened;
    result<void> outcome;
    for (uint32_t s = 0; s < data_.stores.size(); ++s) {
        output_writer::request r;
        r.store = s;
        r.iterations.resize(static_cast<size_t>(found.end - found.first));
        std::iota(r.iterations.begin(), r.iterations.end(), found.first);
        r.unfinished = r.iterations;
        if (auto done = write(std::move(r), realtime_ns()); !done) {
            outcome = done;
            ++counts_.failed_files;
        }
    }
    if (found.counted) counts_.incomplete_iterations += found.end - found.first;
    counts_.finished = true;
    say(found.who + " closed before iteration " + std::to_string(found.first) +
        ", which others ended: its blocks are missing from there on");
    if (auto saved = records_->save(counts_); !saved) outcome = saved;
    output_->release_directories();
    return outcome;
}

result<void> inline_writer::rebuild_views(const std::vector<std::string>& writers) {
    if (auto opened = open(); !opened) return opened;
    if (auto shown = output_->rebuild_views(writers); !shown) return shown.why();
    const std::vector<std::string> remarks = output_->new_view_remarks();
    for (const std::string& remark : remarks) say("view: " + remark);
    counts_.incomplete_iterations += output_->ended_short();
    if (remarks.empty() && counts_.finished) return {};
    // Where only the view was left to make, the records are of now, and end with it.
    counts_.finished = true;
    return records_->save(counts_);
}

result<void> inline_writer::write_store(uint32_t s) {
    if (stores_[s].pending.empty()) return {};
    output_writer::request r;
    r.store = s;
    r.iterations = std::exchange(stores_[s].pending, {});
    const auto mine = [&](const kept_block& k) {
        return k.view.var->store == data_.stores[s].name &&
               std::find(r.iterations.begin(), r.iterations.end(), k.view.iteration) != r.iterations.end();
    };
    for (const kept_block& k : kept_)
        if (mine(k)) {
            r.blocks.push_back(k.view);
            r.blocks.back().data = k.data;
        }
    for (const missing_block& m : missing_)
        if (data_.variables[m.variable_id].store == data_.stores[s].name &&
            std::find(r.iterations.begin(), r.iterations.end(), m.iteration) != r.iterations.end())
            r.missing.push_back(m);
    const std::vector<int64_t> iterations = r.iterations;
    const auto blocks = static_cast<int64_t>(r.blocks.size());
    int64_t bytes = 0;
    for (const block_view& b : r.blocks) bytes += b.shape.bytes;
    auto outcome = write(std::move(r), realtime_ns());
    if (!outcome) {
        ++counts_.failed_files;
        counts_.missing_blocks += blocks;
        counts_.blocks -= blocks;
        counts_.bytes -= bytes;
        lost_from_ = std::min(lost_from_, iterations.front());
        why_lost_ = outcome.why().message;
    }
    // What no store wants goes too, once its iteration is over.
    std::erase_if(kept_, [&](const kept_block& k) {
        const bool over = std::find(iterations.begin(), iterations.end(), k.view.iteration) != iterations.end();
        return over && (k.view.var->store == data_.stores[s].name || k.view.var->store.empty());
    });
    save_counts();
    return outcome;
}

/// The lost files may have held any iteration, and some exist nowhere else.
void inline_writer::look_for_lost_directories() {
    const auto lost = output_->look_for_lost_directories();
    if (!lost) return;
    say(lost->what);
    counts_.lost_files += lost->files;
    lost_from_ = 0;
    why_lost_ = lost->what;
}

void inline_writer::say_once(const std::string& message) {
    if (told_.insert(message).second) say(message);
}

void inline_writer::say(const std::string& message) {
    if (counts_.messages.size() < 100) counts_.messages.push_back(message);
}

result<void> inline_writer::write(output_writer::request request, int64_t complete_ns) {
    look_for_lost_directories();
    request.sync = data_.stores[request.store].durable;
    request.compress = false;  // when-idle: an inline client has no idle time
    file_record record{};
    record.first_iteration = request.iterations.front();
    record.last_iteration = request.iterations.back();
    record.part = request.part;
    record.complete_ns = complete_ns;
    record.begin_ns = realtime_ns();
    auto report = output_->write(std::move(request));
    record.end_ns = realtime_ns();
    if (!report) {
        say(report.why().message);
        return report.why();
    }
    counts_.overflowed_values += report->overflowed_values;
    if (report->patterns_refuted) {
        counts_.switches.push_back({realtime_ns(), patterns_off});
        say(patterns_off);
    }
    record.compress_ns = report->compress_ns;
    record.write_ns = report->write_ns;
    record.raw_bytes = report->raw_bytes;
    record.stored_bytes = report->stored_bytes;
    record.compressed = report->compress_ns > 0;
    counts_.busy_ns += record.end_ns - record.begin_ns;
    records_->add(record);
    return {};
}

/// What cannot be saved now is saved with the next file, or at the end, which says so: the file itself is stored.
void inline_writer::save_counts() {
    if (auto saved = records_->save(counts_); !saved) say_once("counts cannot be saved: " + saved.why().message);
}

}  // namespace halcyon::offload
