#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "watched_files.hpp"

namespace halcyon::logfs::tests {

/// Notes which files are synced and closed, by the first word of their names: "sync data", "close index", "sync ..".
class named_files : public watched_files {
  public:
    std::vector<std::string> noted;

    int open_at(int directory, const char* name, int flags, mode_t mode) override {
        const int fd = watched_files::open_at(directory, name, flags, mode);
        if (fd >= 0) names_[fd] = first_word(name);
        return fd;
    }
    int close(int fd) override {
        noted.push_back("close " + names_[fd]);
        names_.erase(fd);
        return watched_files::close(fd);
    }
    int sync(int fd) override {
        noted.push_back("sync " + names_[fd]);
        return watched_files::sync(fd);
    }
    int sync_names(int directory) override {
        noted.push_back("sync " + names_[directory]);
        return watched_files::sync_names(directory);
    }
    /// What was synced since this was asked last.
    std::vector<std::string> take_syncs() {
        std::vector<std::string> syncs;
        for (const std::string& each : noted) {
            if (each.starts_with("sync ")) syncs.push_back(each.substr(5));
        }
        noted.clear();
        return syncs;
    }

  private:
    static std::string first_word(std::string_view path) {
        const std::string_view name = path.substr(path.rfind('/') + 1);
        return std::string(name.starts_with('.') ? name : name.substr(0, name.find('.')));
    }

    std::map<int, std::string> names_;
};

}  // namespace halcyon::logfs::tests
