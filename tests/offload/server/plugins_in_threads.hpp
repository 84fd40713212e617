#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "offload/actions/module_plugin.hpp"
#include "offload/actions/plugin_host.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload::testing {

/// Runs plugins in a thread of the server's process, all in the order in which they come. What became of a run may be
/// said beforehand: then the plugin is not called.
class plugins_in_threads final : public plugin_host {
  public:
    explicit plugins_in_threads(const segment& shared) : segment_(shared) {}
    ~plugins_in_threads() override { stop(); }

    result<void> begin(surroundings where) override {
        data_ = where.data;
        for (uint32_t id = 0; id < data_->actions.size(); ++id) {
            if (!data_->actions[id].is_plugin()) continue;
            plugin_place place;
            place.directory = where.directory;
            auto loaded = load_module(*data_, data_->actions[id], place);
            if (!loaded) return loaded.why();
            plugins_[id] = *std::move(loaded);
        }
        thread_ = std::thread([this] { work(); });
        return {};
    }
    void post(task what, std::function<void(const outcome&)> tell) override {
        if (!foretold.empty()) {
            const outcome said = foretold.front();
            foretold.pop_front();
            return tell(said);
        }
        {
            const std::lock_guard lock(mutex_);
            tasks_.emplace_back(std::move(what), std::move(tell));
        }
        changed_.notify_one();
    }
    std::vector<std::string> finish() override { return {}; }

    std::deque<outcome> foretold;

  private:
    void stop() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        changed_.notify_one();
        if (thread_.joinable()) thread_.join();
    }
    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            const auto [what, tell] = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            tell(run(what));
            lock.lock();
        }
    }
    outcome run(const task& what) {
        std::vector<block_view> blocks;
        for (const named_block& n : what.blocks) {
            const checked_block b = check_block(segment_, *data_, n.client, n.entry).value();
            blocks.push_back({&data_->variables[b.variable],
                              b.iteration,
                              static_cast<int32_t>(b.client),
                              b.block,
                              b.shape,
                              {segment_.bytes_at(b.location), static_cast<size_t>(b.shape.bytes)}});
        }
        plugin_run r;
        r.of = &data_->events[what.event_id];
        r.iteration = what.iteration;
        r.rank = what.rank;
        r.blocks = blocks;
        r.left_out = what.left_out;
        const auto done = plugins_.at(what.action_id)->run(r);
        return done ? outcome{} : outcome{outcome::kind::failed, done.why().message, {}, 0};
    }

    const segment& segment_;
    const model* data_ = nullptr;
    std::map<uint32_t, std::unique_ptr<plugin>> plugins_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::pair<task, std::function<void(const outcome&)>>> tasks_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace halcyon::offload::testing
