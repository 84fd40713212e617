#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/writing/writer.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs::tests {

/// A new container in a folder of its own, and its writers.
class open_container {
  public:
    explicit open_container(file_calls& calls = kernel_files()) : container_(calls) {
        container_.create(path, 0644, 4).value();
    }

    writer& add_writer(int64_t pid, const writer_options& how = {}, std::string_view boot = "boot0") {
        writers_.push_back(std::make_unique<writer>(container_));
        writers_.back()->open(identity(pid, "node0", boot), how).value();
        return *writers_.back();
    }
    /// `reload()` is up to the caller.
    std::unique_ptr<reader> new_reader(const reader_options& how = beside_writers()) {
        return std::make_unique<reader>(container_, how);
    }
    /// All of it, by a new reader; none: it failed, and so does the test.
    bytes contents(const reader_options& how = beside_writers()) {
        const auto from = new_reader(how);
        const auto done = from->reload();
        if (!done) {
            ADD_FAILURE() << done.why().message;
            return {};
        }
        return all_of(*from);
    }
    void close_writers() {
        for (auto& each : writers_) {
            if (each->is_open()) each->close().value();
        }
        writers_.clear();
    }
    [[nodiscard]] std::string index_path(const writer& of) const { return path + "/" + std::string(of.name()); }
    [[nodiscard]] std::string data_path(const writer& of) const {
        return path + "/" + std::string(with_kind(of.name(), dropping_kind::data).view());
    }

    halcyon::tests::memory_folder folder;
    std::string path = folder.file("file");
    container& of() { return container_; }

  private:
    container container_;
    std::vector<std::unique_ptr<writer>> writers_;
};

inline std::string read_text(open_container& from) {
    return as_text(from.contents());
}

}  // namespace halcyon::logfs::tests
