#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/writing/writer.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs::tests {

/// The calls of a node that does not see the disk of another one.
class other_node : public watched_files {
  public:
    explicit other_node(std::string stage) : stage_(std::move(stage)) {}
    int open_at(int directory, const char* name, int flags, mode_t mode) override {
        return std::string_view(name).starts_with(stage_) ? -ENOENT
                                                          : watched_files::open_at(directory, name, flags, mode);
    }

  private:
    std::string stage_;
};

/// A container on a shared disk, and a disk of a node's own.
class staged_file {
  public:
    staged_file() {
        std::filesystem::create_directory(shared);
        std::filesystem::create_directory(stage);
    }

    [[nodiscard]] writer_options staging() const {
        writer_options how;
        how.stage = stage;
        return how;
    }

    /// What a node reads: the bytes, or the errno of the failure.
    struct answer {
        std::string text;
        failure why;
    };
    [[nodiscard]] answer read_by(file_calls& calls, int64_t offset = 0, int64_t most = INT64_MAX) const {
        container in(calls);
        if (const auto opened = in.open(path); !opened) return {{}, opened.why()};
        reader from(in, beside_writers());
        if (const auto read = from.reload(); !read) return {{}, read.why()};
        bytes data(static_cast<size_t>(std::max<int64_t>(std::min(most, from.size() - offset), 0)));
        const auto read = from.read(offset, data);
        if (!read) return {{}, read.why()};
        data.resize(static_cast<size_t>(*read));
        return {as_text(data), {}};
    }
    [[nodiscard]] answer read_here(int64_t offset = 0, int64_t most = INT64_MAX) const {
        return read_by(kernel_files(), offset, most);
    }
    [[nodiscard]] answer read_elsewhere(int64_t offset = 0, int64_t most = INT64_MAX) const {
        other_node calls(stage);
        return read_by(calls, offset, most);
    }

    /// The first words of the names of droppings in the container, and on the node's disk.
    [[nodiscard]] std::vector<std::string> droppings() const { return words_below(path, "hostdir."); }
    [[nodiscard]] std::vector<std::string> on_node() const { return words_below(stage + "/halcyon-staged", ""); }

    halcyon::tests::memory_folder folder;
    std::string shared = folder.file("shared");
    std::string stage = folder.file("node");
    std::string path = shared + "/file";

  private:
    static std::vector<std::string> words_below(const std::string& above, std::string_view prefix) {
        namespace fs = std::filesystem;
        std::vector<std::string> found;
        std::error_code none;
        for (const auto& inner : fs::directory_iterator(above, none)) {
            if (!inner.is_directory() || !inner.path().filename().string().starts_with(prefix)) continue;
            for (const auto& file : fs::directory_iterator(inner.path())) {
                const std::string name = file.path().filename();
                found.push_back(name.substr(0, name.find('.')) + (name.ends_with(".brought") ? ".brought" : ""));
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }
};

}  // namespace halcyon::logfs::tests
