#include "offload/actions/module_plugin.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cmath>
#include <exception>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "halcyon/action.h"

namespace halcyon::offload {
namespace {

/// A list of the C interface: structs, and the pointers that a plugin sees.
template <class Struct>
class pointed {
  public:
    explicit pointed(size_t most) {
        structs_.reserve(most);
        pointers_.reserve(most);
    }
    void add(const Struct& s) {
        structs_.push_back(s);
        pointers_.push_back(&structs_.back());  // there is room for all of them
    }
    [[nodiscard]] size_t size() const { return pointers_.size(); }
    [[nodiscard]] const Struct* const* data() const { return pointers_.data(); }

  private:
    std::vector<Struct> structs_;
    std::vector<const Struct*> pointers_;
};

halcyon_action_block block_of(const model& data, const block_view& b) {
    const variable& v = *b.var;
    return {sizeof(halcyon_action_block),
            v.name.c_str(),
            name_of(data.layouts[v.layout_id].type).data(),
            v.unit.c_str(),
            v.description.c_str(),
            v.mesh_id ? data.meshes[*v.mesh_id].name.c_str() : "",
            name_of(v.centered).data(),
            b.data.data(),
            static_cast<int64_t>(b.data.size()),
            b.iteration,
            b.rank,
            b.block,
            v.time_varying ? 1 : 0,
            b.shape.dimensions.rank,
            b.shape.dimensions.values.data(),
            b.shape.global.values.data(),
            b.shape.offset.values.data(),
            b.shape.ghost_before.values.data(),
            b.shape.ghost_after.values.data()};
}

pointed<halcyon_action_block> blocks_of(const model& data, std::span<const block_view> views) {
    pointed<halcyon_action_block> list(views.size());
    for (const block_view& b : views) list.add(block_of(data, b));
    return list;
}

/// What a plugin says of a run, or of its start.
struct told {
    std::string why;
    std::function<int(const std::string&)> raise_job;
};

template <class Struct>
int note_failure(const Struct* of, const char* why) {
    static_cast<told*>(of->own)->why = why == nullptr ? "" : why;
    return 1;
}

int raise_by_run(const halcyon_action_context* of, const char* event) {
    const auto& raise = static_cast<told*>(of->own)->raise_job;
    return raise ? raise(event) : 2;
}

class module_plugin final : public plugin {
  public:
    module_plugin(const model& data, const action& a, plugin_place where, const halcyon_action_plugin& exported)
        : data_(data), action_(a), where_(std::move(where)), exported_(exported), meshes_(data.meshes.size()) {
        for (const auto& [name, value] : a.options) {
            option_names_.push_back(name.c_str());
            option_values_.push_back(value.c_str());
        }
        coordinates_.reserve(data.meshes.size());
        for (const mesh& m : data.meshes) {
            std::vector<const char*>& names = coordinates_.emplace_back();
            for (const std::string& c : m.coordinates) names.push_back(c.c_str());
            meshes_.add({sizeof(halcyon_action_mesh), m.name.c_str(), name_of(m.type).data(), names.size(),
                         names.data(), m.cells.c_str(), m.cell_types.c_str(), m.cell_sizes.c_str()});
        }
        host_ = {sizeof(halcyon_action_host),
                 HALCYON_ACTION_ABI,
                 where_.isolated ? 1 : 0,
                 data.simulation.c_str(),
                 a.name.c_str(),
                 where_.directory.c_str(),
                 where_.node,
                 where_.nodes,
                 where_.ranks,
                 option_names_.size(),
                 option_names_.data(),
                 option_values_.data(),
                 meshes_.size(),
                 meshes_.data(),
                 note_failure<halcyon_action_host>,
                 &told_};
    }

    result<void> init() override {
        if (exported_.init == nullptr) return {};
        return contained("could not start: init ", [this] { return exported_.init(&host_, &state_); });
    }

    result<void> run(const plugin_run& r) override {
        const auto blocks = blocks_of(data_, r.blocks), once = blocks_of(data_, r.once);
        pointed<halcyon_action_parameter> parameters(data_.parameters.size());
        double time = std::numeric_limits<double>::quiet_NaN();
        for (size_t i = 0; i < data_.parameters.size(); ++i) {
            const parameter& p = data_.parameters[i];
            const double value = i < r.parameters.size() ? r.parameters[i] : p.value;
            parameters.add({sizeof(halcyon_action_parameter), p.name.c_str(), value, p.is_mutable ? 1 : 0});
            if (data_.time_parameter == i) time = value;
        }
        told_.raise_job = r.raise_job;
        const halcyon_action_context context{sizeof(halcyon_action_context),
                                             &host_,
                                             r.of->name.c_str(),
                                             r.iteration,
                                             time,
                                             r.rank,
                                             blocks.size(),
                                             blocks.data(),
                                             once.size(),
                                             once.data(),
                                             r.left_out,
                                             parameters.size(),
                                             parameters.data(),
                                             raise_by_run,
                                             note_failure<halcyon_action_context>,
                                             &told_};
        return contained("", [&] { return exported_.run(state_, &context); });
    }

    result<void> finalize() override {
        if (exported_.finalize == nullptr) return {};
        return contained("did not end well: finalize ", [this] {
            exported_.finalize(state_);
            return 0;
        });
    }

  private:
    /// `what`: which function it is, where that is not the run.
    template <class Call>
    result<void> contained(const std::string& what, Call call) {
        const auto failed = [&](const std::string& how) {
            return failure{error_kind::usage, "action '" + action_.name + "' " + what + how, 0};
        };
        told_.why.clear();
        try {
            const int status = call();
            if (status == 0) return {};
            return failed(told_.why.empty() ? "returned " + std::to_string(status) : "failed: " + told_.why);
        } catch (const std::exception& thrown) {
            return failed(std::string("threw: ") + thrown.what());
        } catch (...) {
            return failed("threw");
        }
    }

    const model& data_;
    const action& action_;
    plugin_place where_;
    const halcyon_action_plugin& exported_;
    std::vector<const char*> option_names_, option_values_;
    std::vector<std::vector<const char*>> coordinates_;
    pointed<halcyon_action_mesh> meshes_;
    halcyon_action_host host_{};
    told told_;
    void* state_ = nullptr;
};

/// Null: it is a plugin of this ABI; else why it is not.
std::string why_no_plugin(const std::string& name, const void* symbol) {
    const std::string speaks = std::to_string(HALCYON_ACTION_ABI);
    Dl_info about{};
    const ElfW(Sym)* entry = nullptr;
    const bool known =
        ::dladdr1(symbol, &about, const_cast<void**>(reinterpret_cast<const void**>(&entry)), RTLD_DL_SYMENT) != 0 &&
        entry != nullptr;
    if (known && ELF64_ST_TYPE(entry->st_info) == STT_FUNC)
        return "'" + name +
               "' is a function, as modules exported it up to ABI 2 of halcyon/action.h; this Halcyon runs "
               "plugins of ABI " +
               speaks +
               ": rename the function, let it take (void* state, const "
               "halcyon_action_context*), add HALCYON_PLUGIN(" +
               name +
               ", NULL, <the function>, NULL); and compile the "
               "module anew";
    const auto* found = static_cast<const halcyon_action_plugin*>(symbol);
    if ((known && entry->st_size < offsetof(halcyon_action_plugin, init)) || found->magic != HALCYON_ACTION_MAGIC)
        return "'" + name + "' is no plugin; halcyon/action.h exports one by HALCYON_PLUGIN(" + name +
               ", init, run, finalize)";
    if (found->abi != HALCYON_ACTION_ABI)
        return "'" + name + "' was built against ABI " + std::to_string(found->abi) +
               " of halcyon/action.h, and this Halcyon runs plugins of ABI " + speaks + ": compile the module anew";
    if (found->size_bytes < sizeof(halcyon_action_plugin) || found->run == nullptr)
        return "'" + name + "' has no function to run";
    return {};
}

}  // namespace

result<std::unique_ptr<plugin>> load_module(const model& data, const action& a, plugin_place where) {
    const bool is_path = a.module.find('/') != std::string::npos;
    const std::string path = is_path ? (std::filesystem::path(where.working_directory) / a.module).string() : a.module;
    // Never closed: code of the library may still run, or have left threads.
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return failure{error_kind::config, a.module_where + ": " + std::string(::dlerror()), 0};
    void* symbol = ::dlsym(library, a.function.c_str());
    if (symbol == nullptr) return failure{error_kind::config, a.function_where + ": " + std::string(::dlerror()), 0};
    if (const std::string why = why_no_plugin(a.function, symbol); !why.empty())
        return failure{error_kind::config, a.function_where + ": " + why, 0};
    return std::unique_ptr<plugin>(
        std::make_unique<module_plugin>(data, a, std::move(where), *static_cast<const halcyon_action_plugin*>(symbol)));
}

}  // namespace halcyon::offload
