#include "offload/store/hdf5/published_files.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/library_use.hpp"

namespace halcyon::offload::hdf5 {
namespace {

/// Known files that one look asks about.
constexpr size_t asked_about = 64;

struct close_directory {
    void operator()(DIR* open) const { ::closedir(open); }
};

}  // namespace

published_files::published_files(std::string directory, std::string simulation)
    : directory_(std::move(directory)), simulation_(std::move(simulation)), temporaries_(directory_, simulation_) {}

published_files::news published_files::update(look how) {
    const std::unique_ptr<DIR, close_directory> listed(::opendir(directory_.c_str()));
    if (!listed) throw error(system_failure(directory_ + ": cannot list the folder", errno));
    ++looks_;
    news found;
    size_t place = 0;
    std::string name;
    errno = 0;
    for (const dirent* entry = ::readdir(listed.get()); entry != nullptr; entry = ::readdir(listed.get())) {
        name = entry->d_name;
        if (name[0] == '.') {
            temporaries_.remove_if_left_over(name);
        } else if (const auto known = files_.find(name);
                   known != files_.end() && how == look::quick && is_as_known(known->second, entry->d_ino, place++)) {
            known->second.seen = looks_;
        } else {
            look_at(name, found);
        }
        errno = 0;
    }
    if (errno != 0) throw error(system_failure(directory_ + ": cannot list the folder", errno));
    found.other |= std::erase_if(files_, [this](const auto& file) { return file.second.seen != looks_; }) > 0;
    return found;
}

/// A file that is replaced by rename has another inode, which the list says. One that was changed in place, or replaced
/// twice, is found when it is asked about.
bool published_files::is_as_known(const known_file& file, ino_t inode, size_t place) const {
    const size_t period = std::max<size_t>(1, files_.size() / asked_about);
    return file.contents && file.state.inode == inode && place % period != looks_ % period;
}

void published_files::look_at(const std::string& name, news& found) {
    const auto parsed = parse_file_name(name, simulation_, traits.ending);
    if (!parsed) return;
    struct stat info {};
    if (::stat((directory_ + "/" + name).c_str(), &info) != 0) return;
    const file_state state{info.st_dev, info.st_ino, info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec,
                           info.st_size};
    const auto known = files_.find(name);
    const bool is_new = known == files_.end();
    if (!is_new && known->second.state == state && known->second.contents) {
        known->second.seen = looks_;
        return;
    }
    // A file that could not be read may have met a passing trouble: it is tried again each time.
    std::shared_ptr<const published_file> contents = read(name, *parsed);
    if (is_new && contents)
        found.added.push_back(contents);
    else
        found.other |= is_new || known->second.contents || contents;
    files_[name] = {state, std::move(contents), looks_};
}

std::shared_ptr<const published_file> published_files::read(const std::string& name, const file_name_parts& parsed) {
    const library_use now;
    try {
        auto file = std::make_shared<published_file>(read_published_file(directory_, name, parsed));
        std::shared_ptr<const file_layout>& newest = newest_layout_[parsed.writer];
        if (newest && *newest == *file->layout) {
            file->layout = newest;
        } else {
            newest = file->layout;
        }
        return file;
    } catch (const error&) {
        return nullptr;
    }
}

}  // namespace halcyon::offload::hdf5
