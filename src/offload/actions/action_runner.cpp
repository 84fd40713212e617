#include "offload/actions/action_runner.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace halcyon::offload {
namespace {

/// Marks an action as running while it lives.
class running {
  public:
    explicit running(action_mark* mark) : mark_(mark) {
        if (mark_ != nullptr) mark_->running.fetch_add(1, std::memory_order_relaxed);
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;
    ~running() {
        if (mark_ != nullptr) mark_->running.fetch_sub(1, std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_put_aside() const {
        return mark_ != nullptr && mark_->aside.load(std::memory_order_relaxed) != 0;
    }

  private:
    action_mark* mark_;
};

}  // namespace

result<void> action_runner::load_modules(const std::string& working_directory) {
    for (const action& a : data_.actions) {
        if (a.type != "module") continue;
        // Never closed: code of the library may still run, or have left threads.
        const bool is_path = a.module.find('/') != std::string::npos;
        const std::string path = is_path ? (std::filesystem::path(working_directory) / a.module).string() : a.module;
        void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return failure{error_kind::config, a.module_where + ": " + std::string(::dlerror()), 0};
        void* symbol = ::dlsym(library, a.function.c_str());
        if (symbol == nullptr)
            return failure{error_kind::config, a.function_where + ": " + std::string(::dlerror()), 0};
        functions_[a.name] = reinterpret_cast<halcyon_action_function>(symbol);
    }
    return {};
}

bool action_runner::reads_blocks(const event& e) const {
    return std::any_of(e.action_ids.begin(), e.action_ids.end(),
                       [this](uint32_t id) { return data_.actions[id].type == "module"; });
}

result<void> action_runner::run(const event& e, const occasion& o) {
    result<void> outcome;
    for (const uint32_t id : e.action_ids) {
        const action& a = data_.actions[id];
        if (a.type == "log") {
            where_.log("event '" + e.name + "' iteration " + std::to_string(o.iteration) +
                       (o.rank >= 0 ? " from rank " + std::to_string(o.rank) : std::string()));
        } else if (a.type == "module") {
            auto done = run_module(e, a, o);
            if (done.ok()) continue;
            if (outcome.ok())
                outcome = done;
            else
                outcome = failure{error_kind::usage, outcome.why().message + "; " + done.why().message, 0};
        }
    }
    return outcome;
}

result<void> action_runner::run_module(const event& e, const action& a, const occasion& o) {
    std::vector<halcyon_action_block> blocks;
    blocks.reserve(o.blocks.size());
    for (const block_view& b : o.blocks)
        blocks.push_back({b.var->name.c_str(), name_of(data_.layouts[b.var->layout_id].type).data(), b.data.data(),
                          static_cast<int64_t>(b.data.size()), b.rank, b.block, b.shape.dimensions.rank,
                          b.shape.dimensions.values.data(), b.shape.global.values.data(), b.shape.offset.values.data(),
                          b.shape.ghost_before.values.data(), b.shape.ghost_after.values.data()});
    std::vector<const char*> names, values;
    for (const auto& [name, value] : a.options) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    const halcyon_action_context context{HALCYON_ACTION_ABI,
                                         data_.simulation.c_str(),
                                         e.name.c_str(),
                                         a.name.c_str(),
                                         where_.directory.c_str(),
                                         o.iteration,
                                         o.rank,
                                         where_.node,
                                         where_.nodes,
                                         blocks.size(),
                                         blocks.data(),
                                         o.left_out,
                                         names.size(),
                                         names.data(),
                                         values.data(),
                                         [](const halcyon_action_context* c, const char* other) {
                                             return static_cast<action_runner*>(c->host)->raise_job(other,
                                                                                                    c->iteration);
                                         },
                                         this};
    const auto loaded = functions_.find(a.name);
    if (loaded == functions_.end())
        return failure{error_kind::unavailable,
                       "action '" + a.name + "' is not run: it is a module, and the server that ran it is gone", 0};
    const running here(where_.mark_of ? where_.mark_of(static_cast<uint32_t>(&a - data_.actions.data())) : nullptr);
    if (here.is_put_aside())
        return failure{error_kind::unavailable, "action '" + a.name + "' is not run: a server ended in it", 0};
    int status = 0;
    try {
        status = loaded->second(&context);
    } catch (const std::exception& thrown) {
        return failure{error_kind::usage, "action '" + a.name + "' threw: " + thrown.what(), 0};
    } catch (...) {
        return failure{error_kind::usage, "action '" + a.name + "' threw", 0};
    }
    if (status != 0) return failure{error_kind::usage, "action '" + a.name + "' returned " + std::to_string(status), 0};
    return {};
}

int action_runner::raise_job(const char* event, int64_t iteration) const {
    for (uint32_t id = 0; id < data_.events.size(); ++id)
        if (data_.events[id].name == event && data_.events[id].scope == scope::job)
            return where_.raise_job && where_.raise_job(id, iteration) ? 0 : 2;
    return 1;
}

}  // namespace halcyon::offload
