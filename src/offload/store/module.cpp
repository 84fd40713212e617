#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "offload/store/store.hpp"

namespace halcyon::offload {
namespace {

namespace fs = std::filesystem;

/// The folder of the library or program that this code was linked into; empty when the loader does not know.
fs::path own_folder() {
    Dl_info info{};
    static const char anchor = 0;
    if (dladdr(&anchor, &info) == 0 || info.dli_fname == nullptr) return {};
    std::error_code ignored;
    // The name of the main program is what it was called with; /proc names the file.
    const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
    const fs::path named = fs::weakly_canonical(info.dli_fname, ignored);
    const fs::path file = fs::exists(named, ignored) ? named : self;
    return file.parent_path();
}

std::vector<fs::path> folders() {
    std::vector<fs::path> list;
    const auto add = [&list](const fs::path& folder) {
        if (folder.empty()) return;
        for (const fs::path& known : list) {
            if (known == folder) return;
        }
        list.push_back(folder);
    };
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const fs::path& base : {own_folder(), program}) {
        if (base.empty()) continue;
        add(base);
        add((base / "../lib").lexically_normal());
        add(base / "lib");  // the Python package
    }
    if (const char* path = std::getenv("HALCYON_MODULE_PATH"); path != nullptr) {
        std::string rest = path;
        while (!rest.empty()) {
            const size_t colon = rest.find(':');
            add(rest.substr(0, colon));
            rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
        }
    }
    return list;
}

bool fits(const store_interface& has) {
    return has.version == this_store_interface.version && has.value_bytes == this_store_interface.value_bytes;
}

std::string describe(const store_interface& i) {
    return "version " + std::to_string(i.version) + " with values of " + std::to_string(i.value_bytes) + " bytes";
}

}  // namespace

result<store_module> load_store_module(const std::string& type) {
    // The type comes from a configuration file: it names a module, not a path.
    if (type.empty() || type.find('/') != std::string::npos) {
        return failure{error_kind::config, "store type '" + type + "': expected a name such as hdf5", 0};
    }
    const std::string name = "libhalcyon_store_" + type + ".so";
    std::string looked;
    for (const fs::path& folder : folders()) {
        const std::string file = (folder / name).string();
        std::error_code ignored;
        if (!fs::exists(file, ignored)) {
            looked += "\n  " + file + ": not there";
            continue;
        }
        // RTLD_LOCAL: what the module links (its HDF5) must not mix with what the simulation links.
        void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            looked += "\n  " + file + ": " + dlerror();
            continue;
        }
        // Before anything of it is called.
        const auto* has = static_cast<const store_interface*>(dlsym(library, "halcyon_store_interface"));
        if (has != nullptr && !fits(*has)) {
            looked += "\n  " + file + ": has store interface " + describe(*has) + ", but this program needs " +
                      describe(this_store_interface) + ": they are not of the same build of Halcyon; install it again";
            dlclose(library);
            continue;
        }
        store_module module;
        const auto* traits = static_cast<const store_traits*>(dlsym(library, "halcyon_store_traits"));
        if (has != nullptr && traits != nullptr) module.traits = *traits;
        module.make_file_store =
            reinterpret_cast<decltype(module.make_file_store)>(dlsym(library, "halcyon_make_file_store"));
        module.make_view_builder =
            reinterpret_cast<decltype(module.make_view_builder)>(dlsym(library, "halcyon_make_view_builder"));
        // Never unloaded: stores and their virtual tables live in it.
        const bool shows = module.make_view_builder != nullptr || !module.traits.has_view();
        if (has != nullptr && traits != nullptr && module.make_file_store != nullptr && shows) return module;
        dlclose(library);
        looked += "\n  " + file +
                  ": not a store module of this release (lacks halcyon_store_interface, halcyon_store_traits, "
                  "halcyon_make_file_store or, although it has a view, halcyon_make_view_builder)";
    }
    return failure{error_kind::system,
                   "no store module for type '" + type + "'; set HALCYON_MODULE_PATH to the folder that holds " + name +
                       "; looked for it as" + looked,
                   0};
}

std::vector<store_traits> known_formats() {
    constexpr std::string_view begin = "libhalcyon_store_", end = ".so";
    std::set<std::string> types;
    std::error_code none;
    for (const fs::path& folder : folders())
        for (const auto& entry : fs::directory_iterator(folder, none)) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with(begin) && name.ends_with(end) && name.size() > begin.size() + end.size())
                types.insert(name.substr(begin.size(), name.size() - begin.size() - end.size()));
        }
    std::vector<store_traits> formats;
    for (const std::string& type : types)
        if (const auto module = load_store_module(type)) formats.push_back(module->traits);
    return formats;
}

}  // namespace halcyon::offload
