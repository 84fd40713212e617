#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "offload/server/client_roster.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/loss_report.hpp"
#include "offload/server/pending_iterations.hpp"
#include "offload/server/progress_notice.hpp"
#include "offload/server/spill_files.hpp"
#include "offload/server/worker_pool.hpp"
#include "temporary_folder.hpp"

namespace halcyon::offload::testing {

/// The parts of a server to which the others refer, wired as node_server does, for clients of ranks 0, 1, …. There is
/// no loop: finish() does its work. The pool has one thread.
class parts_of_a_server {
  public:
    parts_of_a_server(const std::string& configuration, uint32_t clients)
        : data(parse_model(configuration, "t.yaml", {}).value()),
          shared(segment::create(
                     plan_segment(data, clients, need_of(data, 0, static_cast<int>(clients)).value()).value(), false)
                     .value()),
          notes(
              shared, [this](const std::string& line) { return say(line); },
              run_records::open(folder.path().string(), "n0000", "").value(), news, pool, data.server.threads),
          book(data, ranks_of(clients)) {}
    ~parts_of_a_server() { finish(); }

    /// Keeps the pool busy until open_gate().
    void close_gate() {
        gate_ = {};
        closed_ = true;
        pool.submit([over = gate_.get_future().share()] { over.wait(); });
    }
    void open_gate() {
        if (closed_) gate_.set_value();
        closed_ = false;
    }
    /// Until the pool has nothing to do and all news is read.
    void finish() {
        open_gate();
        do {
            news.read();
            std::this_thread::yield();
        } while (pool.outstanding() > 0 || news.has_news());
    }
    /// Lines of the log that begin so.
    std::vector<std::string> log(const std::string& beginning = {}) {
        const std::lock_guard lock(log_mutex_);
        std::vector<std::string> lines;
        for (const std::string& line : log_)
            if (line.starts_with(beginning)) lines.push_back(line);
        return lines;
    }
    result<void> say(const std::string& line) {
        const std::lock_guard lock(log_mutex_);
        log_.push_back(line);
        return {};
    }
    /// A client hands over its block of variable 0; the server has adopted it.
    iteration_book::key hand_over(uint32_t client, uint32_t index, int64_t iteration) {
        block_entry& e = entry(client, index);
        e.variable = 0;
        e.iteration = iteration;
        e.sequence = static_cast<uint64_t>(iteration) + 1;
        e.location = shared.geometry().arena_offset(client) + index * block_alignment;
        e.in_spill = 0;
        e.block = 0;
        const int clients = static_cast<int>(shared.geometry().clients);
        e.shape = shape_of(data, data.variables[0], {static_cast<int>(client), clients, 0}).value();
        e.state.store(block_state::servers);
        book.adopt(check_block(shared, data, client, index).value(), true);
        return iteration_book::key_of(client, index);
    }
    [[nodiscard]] block_entry& entry(uint32_t client, uint32_t index) const { return shared.table(client)[index]; }

    tests::temporary_folder folder;
    const model data;
    const segment shared;
    inbox news{shared.header().bell};
    progress_notice progress{shared};
    worker_pool pool{1};
    journal notes;
    loss_report losses{shared, notes};
    client_roster clients{shared, 1};
    spill_files spilled{shared.geometry().clients};
    iteration_book book;
    held_blocks held{shared, data, book, clients, spilled, notes, progress};
    pending_iterations pending{data.stores.size()};

  private:
    static std::vector<int> ranks_of(uint32_t clients) {
        std::vector<int> ranks(clients);
        for (uint32_t c = 0; c < clients; ++c) ranks[c] = static_cast<int>(c);
        return ranks;
    }

    std::mutex log_mutex_;
    std::vector<std::string> log_;
    std::promise<void> gate_;
    bool closed_ = false;
};

}  // namespace halcyon::offload::testing
