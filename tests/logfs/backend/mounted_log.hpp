#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "calls/backend_conformance/fixture.hpp"
#include "calls/backends/file_backend.hpp"
#include "logfs/backend/log_backend.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {

/// One backend of this process, on a directory of its own.
class mounted_log {
  public:
    mounted_log() {
        backend_settings how;
        how.host = "node1";
        start_backends(how);
        EXPECT_EQ(files_.start(folder_.path().c_str()), 0);
    }
    [[nodiscard]] log_backend& files() { return files_; }
    [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

    static mounted_log& of_process() {
        static auto* const mounted = new mounted_log;  // its folder is removed by remove()
        static const int removed = std::atexit([] { std::filesystem::remove_all(of_process().folder_.path()); });
        EXPECT_EQ(removed, 0);
        return *mounted;
    }

  private:
    tests::temporary_folder folder_;
    log_backend files_;
};

/// A directory of the case's own, in the backend and in the kernel.
class log_test : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = "/" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name());
        ASSERT_EQ(files().make_directory(folder_.c_str(), 0755), 0);
    }

    static log_backend& files() { return mounted_log::of_process().files(); }
    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
    /// Where the kernel has it.
    [[nodiscard]] std::string real(const std::string& name) const {
        return mounted_log::of_process().file((folder_ + "/" + name).substr(1));
    }
    void put(const std::string& name, const std::string& text) {
        calls::opened_file file(files(), path(name), O_CREAT | O_WRONLY | O_TRUNC);
        ASSERT_EQ(file.result(), 0) << name;
        ASSERT_EQ(file.write(text, 0), static_cast<ssize_t>(text.size()));
    }
    std::string content(const std::string& name) {
        calls::opened_file file(files(), path(name), O_RDONLY);
        if (file.result() != 0) return "errno " + std::to_string(-file.result());
        return file.read(static_cast<size_t>(file.size()), 0);
    }
    void put_plain(const std::string& name, const std::string& text) const { std::ofstream(real(name)) << text; }
    [[nodiscard]] std::string plain(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(real(name)).rdbuf();
        return text.str();
    }
    [[nodiscard]] bool is_container(const std::string& name) const {
        return std::filesystem::exists(real(name) + "/halcyon-container");
    }
    int stat_error(const std::string& name) {
        struct stat out {};
        return files().stat_path(path(name).c_str(), true, out);
    }
    std::set<std::string> listed(const std::string& name) {
        calls::opened_file directory(files(), name.empty() ? folder_ : path(name), O_RDONLY | O_DIRECTORY);
        std::set<std::string> names;
        for (const auto& [text, inode] : directory.entries())
            if (text != "." && text != "..") names.insert(text);
        return names;
    }

    std::string folder_;
};

}  // namespace halcyon::logfs
