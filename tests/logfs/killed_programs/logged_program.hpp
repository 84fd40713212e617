#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "logfs/container/log_file.hpp"
#include "logfs/container/tools/check.hpp"
#include "plain_file.hpp"
#include "steps.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs::tests {

/// How the program's logs are made: what `halcyon run --log` has for options.
struct way {
    const char* name;
    bool has_backends = false;
    bool is_staged = false;
    bool is_per_node = false;
    bool has_checks = false;
};

/// A directory of containers, what lies elsewhere of them, and the program (program.cpp) that works there.
class logged_program {
  public:
    explicit logged_program(const way& how) {
        for (const std::string& each : {log_, folder_path, first_, second_, stage_})
            std::filesystem::create_directory(each);
        add("LD_PRELOAD", HALCYON_TEST_LIBRARY);
        add("HALCYON_LOG", log_);
        add("HALCYON_LOG_INDEXES", "none");
        if (how.has_backends) add("HALCYON_LOG_BACKENDS", backends());
        if (how.is_staged) add("HALCYON_LOG_STAGE", stage_);  // and no agent that brings it
        if (how.is_per_node) add("HALCYON_LOG_PER", "node");
        if (how.has_checks) add("HALCYON_LOG_CHECKS", "1");
        counter_fd_ = ::memfd_create("returned", 0);
        EXPECT_EQ(::ftruncate(counter_fd_, sizeof *counter_), 0);
        counter_ = static_cast<std::atomic<uint32_t>*>(
            ::mmap(nullptr, sizeof *counter_, PROT_READ | PROT_WRITE, MAP_SHARED, counter_fd_, 0));
        opening writes;
        writes.may_write = writes.creates = true;
        if (how.has_backends) writes.backends = list_ = backends();
        log_file others;
        others.open(folder_path + "/" + others_name, identity(1), writes).value();
        others.write(0, as_bytes(others_text)).value();
        others.close().value();
    }
    ~logged_program() {
        ::munmap(counter_, sizeof *counter_);
        ::close(counter_fd_);
    }
    logged_program(const logged_program&) = delete;
    logged_program& operator=(const logged_program&) = delete;

    /// This process goes on as the program.
    [[noreturn]] void become(const std::string& what) {
        std::vector<std::string> words{HALCYON_TEST_PROGRAM, what, folder_path};
        if (what != "go-on") words.push_back(std::to_string(counter_fd_));
        std::vector<char*> arguments;
        std::vector<char*> environment;
        for (std::string& each : words) arguments.push_back(each.data());
        for (std::string& each : variables_) environment.push_back(each.data());
        arguments.push_back(nullptr);
        environment.push_back(nullptr);
        ::execve(HALCYON_TEST_PROGRAM, arguments.data(), environment.data());
        ::_exit(255);
    }
    /// Steps of the program that have returned.
    [[nodiscard]] uint32_t returned() const { return *counter_; }

    /// As another process of this node reads them, which knows of no option.
    [[nodiscard]] files_of_steps::contents read_all() const {
        files_of_steps::contents all;
        for (const auto& each : std::filesystem::directory_iterator(folder_path)) {
            const std::string name = each.path().filename();
            if (!name.starts_with(".halcyon-")) all[name] = read(each.path());
        }
        return all;
    }
    /// All that returned is there, and of the step under way all or nothing.
    void expect_returned() const {
        const auto right = files_of_steps::after(returned());
        const auto found = read_all();
        EXPECT_NE(std::find(right.begin(), right.end(), found), right.end())
            << returned() << " steps have returned: " << summary(found) << "instead of " << summary(right.front());
        for (const auto& [name, text] : found) {
            container in;
            in.open(folder_path + "/" + name).value();
            const auto checked = check(in);
            EXPECT_TRUE(checked.ok() && checked->is_sound() && checked->count(check_finding::weight::loss) == 0)
                << name;
        }
    }
    /// The next program reads, appends, moves and removes everything, and nothing is left anywhere.
    void expect_next_goes_on() {
        const pid_t next = ::fork();
        if (next == 0) become("go-on");
        int status = 0;
        ASSERT_EQ(::waitpid(next, &status, 0), next);
        EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), 0);
        for (const std::string& each : {log_, first_, second_}) {
            for (const auto& left : std::filesystem::directory_iterator(each))
                ADD_FAILURE() << left.path() << " is left";
        }
    }

  private:
    [[nodiscard]] std::string backends() const { return first_ + ":" + second_; }
    void add(const std::string& name, const std::string& value) { variables_.push_back(name + "=" + value); }

    static std::string read(const std::string& path) {
        log_file file;
        if (const auto opened = file.open(path, writer_identity::of_this_process(), {}); !opened)
            return opened.why().message;
        bytes data(static_cast<size_t>(file.size().value()));
        const auto done = file.read(0, data);
        return done ? as_text(data) : done.why().message;
    }
    static std::string summary(const files_of_steps::contents& of) {
        std::string all;
        for (const auto& [name, text] : of)
            all += name + " of " + std::to_string(text.size()) + " bytes (" + text.substr(0, 200) + ") ";
        return all;
    }

    halcyon::tests::temporary_folder folder_;
    std::string log_ = std::filesystem::canonical(folder_.path()).string() + "/log";
    std::string first_ = folder_.file("first");
    std::string second_ = folder_.file("second");
    std::string stage_ = folder_.file("stage");
    std::string list_;
    std::vector<std::string> variables_;
    int counter_fd_ = -1;
    std::atomic<uint32_t>* counter_ = nullptr;

  public:
    /// In which the program works.
    const std::string folder_path = log_ + "/d";
};

}  // namespace halcyon::logfs::tests
