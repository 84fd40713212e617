#include "logfs/backend/told_places.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <bitset>
#include <cerrno>
#include <climits>

#include "calls/state/direct_call.hpp"
#include "logfs/backend/direct_files.hpp"
#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/direct/direct_file_calls.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;
using calls::data_places;

/// So many droppings of this node are looked for on its disk; of further ones it is not known.
constexpr uint32_t most_looked_for = 256;

/// A path, in pages of its own: this may be a handler of a signal, whose stack may be small.
class real_path {
  public:
    real_path() : text_(static_cast<char*>(direct_files().take_pages(PATH_MAX))) {}
    ~real_path() {
        if (text_ != nullptr) direct_files().return_pages(text_, PATH_MAX);
    }
    real_path(const real_path&) = delete;
    real_path& operator=(const real_path&) = delete;

    /// A directory without its links; "": there is none.
    std::string_view find(int from, std::string_view name) {
        if (text_ == nullptr || name.empty() || name.size() >= PATH_MAX) return {};
        text_[name.copy(text_, name.size())] = '\0';
        const auto fd =
            static_cast<int>(direct::call(SYS_openat, from, direct::address(text_), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (fd < 0) return {};
        const std::string_view found = of(fd);
        direct::close(fd);
        return found;
    }
    std::string_view of(int directory) {
        if (text_ == nullptr) return {};
        return {text_, direct::path_of(directory, text_, PATH_MAX)};
    }

  private:
    char* const text_;
};

/// All host directories in one folder are one place. `container`: its directory.
void add_host_directory(int container, std::string_view backends, uint32_t number, unsigned uses, data_places& out) {
    real_path path;
    std::string_view found = path.find(container, host_directory_name(number).view());
    if (!found.empty())
        found = found.substr(0, found.rfind('/'));
    else
        found = path.find(AT_FDCWD, backend_of(backends, number));
    if (found.empty()) found = path.of(container);
    if (!found.empty()) out.add(found, uses);
}

/// Whether data lie on this node's disk.
class staged_here {
  public:
    staged_here(reader& of, std::string_view stage) : reader_(of), is_possible_(!stage.empty()) {
        if (is_possible_) mark_.set({}, stage, of.of().id());
    }
    bool has(uint32_t writer) {
        if (!is_possible_ || looked_for_ == most_looked_for || !reader_.is_of_this_boot(writer)) return false;
        const data_files::some_droppings& brought = reader_.read_in_container();
        if (writer < brought.size() && brought[writer]) return false;
        ++looked_for_;
        char path[staged_path_room];
        struct stat there {};
        mark_.path_of(reader_.writers().data_name_of(writer).view(), path, sizeof path);
        return path[0] != '\0' && direct_files().status_at(AT_FDCWD, path, there) == 0;
    }

  private:
    reader& reader_;
    staged_mark mark_;
    bool is_possible_;
    uint32_t looked_for_ = 0;
};

/// Where what has been written comes from. Those that lie on the node's disk.
data_files::some_droppings add_written(reader& from, std::string_view stage, std::string_view real_stage,
                                       data_places& out) {
    data_files::some_droppings on_stage;
    std::bitset<most_host_directories> is_read;
    staged_here staged(from, stage);
    for (uint32_t i = 0; i < from.writers().size(); ++i) {
        if (from.writers()[i].is_gone) continue;
        const std::string_view name = from.writers().name_of(i);
        uint32_t number = 0;
        const bool is_ours = parse_host_directory(name.substr(0, name.find('/')), number);
        if (is_ours && number < is_read.size() && is_read[number]) continue;
        if (!real_stage.empty() && staged.has(i)) {
            out.add(real_stage, data_places::reads);
            if (i < on_stage.size()) on_stage.set(i);
            continue;
        }
        if (is_ours && number < is_read.size()) is_read[number] = true;
        add_host_directory(from.of().directory(), {}, number, data_places::reads, out);
    }
    return on_stage;
}

unsigned uses_beside_stage(bool syncs_writes) {
    return data_places::syncs | (syncs_writes ? unsigned{data_places::writes} : 0U);
}

}  // namespace

void told_places::say(log_file& of, const settings& how, data_places& out) {
    is_told_ = true;
    known_ = known_of(of);
    real_path path;
    const std::string_view stage = path.find(AT_FDCWD, how.stage);
    const bool is_staged = known_.is_staged && !stage.empty();
    // What this process writes from now on it may read at once.
    const unsigned own = data_places::writes | (known_.has_writer ? unsigned{data_places::reads} : 0U);
    if (is_staged) out.add(stage, own);
    const unsigned uses = is_staged ? uses_beside_stage(how.syncs_writes) : own | data_places::syncs;
    add_host_directory(of.of().directory(), how.backends, of.host_directory(), uses, out);
    staged_ = add_written(*of.reading(), how.stage, stage, out);
    has_staged_ = staged_.any();
}

void told_places::say_of_path(const char* path, uint32_t host_directory, const settings& how, data_places& out) {
    is_told_ = true;
    has_staged_ = false;
    known_ = {.writers = UINT32_MAX};
    real_path real;
    const std::string_view stage = real.find(AT_FDCWD, how.stage);
    if (!stage.empty()) out.add(stage, data_places::writes);
    const unsigned uses =
        stage.empty() ? unsigned{data_places::writes} | data_places::syncs : uses_beside_stage(how.syncs_writes);
    direct_file_calls files;  // which layers are not shown: they ask this on the way into a call
    const int container = how.backends.empty() ? -ENOENT : files.open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (container < 0) return out.add(path, uses | data_places::reads);
    add_host_directory(container, how.backends, host_directory, uses, out);
    memory_source memory(files);
    names_in(files, memory, container, ".", [&](std::string_view name) {
        uint32_t number = 0;
        if (parse_host_directory(name, number)) add_host_directory(container, {}, number, data_places::reads, out);
        return 0;
    });
    files.close(container);
}

}  // namespace halcyon::logfs
