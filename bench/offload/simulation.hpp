#pragma once

#include <mpi.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "halcyon/halcyon.h"
#include "processes.hpp"

namespace halcyon::bench {

inline void check(int outcome) {
    if (outcome != HALCYON_OK) stop(halcyon_error_message());
}

/// MPI for as long as it lives: a job of one rank, started without a launcher.
class mpi_job {
  public:
    mpi_job() { MPI_Init(nullptr, nullptr); }
    mpi_job(const mpi_job&) = delete;
    mpi_job& operator=(const mpi_job&) = delete;
    ~mpi_job() { MPI_Finalize(); }
};

/// A folder of its own in `parent`, gone at the end.
class scratch_folder {
  public:
    explicit scratch_folder(const std::string& parent) : path_(parent + "/halcyon-bench-XXXXXX") {
        if (::mkdtemp(path_.data()) == nullptr) stop(path_ + ": cannot be made");
        path_ = std::filesystem::canonical(path_).string();
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// An open session with a server process of its own. The working directory is its folder while it lives.
class session {
  public:
    session(const std::string& parent, const std::string& configuration)
        : folder_(parent), before_(std::filesystem::current_path()) {
        const std::string file = folder_.path() + "/halcyon.yaml";
        std::ofstream(file) << configuration;
        std::filesystem::current_path(folder_.path());
        check(halcyon_open(file.c_str(), MPI_COMM_WORLD, &handle_));
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() {
        if (halcyon_close(&handle_) != HALCYON_OK) std::fprintf(stderr, "%s\n", halcyon_error_message());
        std::filesystem::current_path(before_);
    }
    [[nodiscard]] halcyon_handle handle() const { return handle_; }

    /// Ends the iteration and waits until the server has nothing left to do for it.
    void end_iteration() {
        check(halcyon_end_iteration(handle_));
        check(halcyon_wait(handle_, iteration_++, HALCYON_STORED));
    }

    /// The server process: its output goes to a log in the session's folder.
    [[nodiscard]] pid_t server() const {
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            std::error_code not_ours;
            std::string name;
            std::ifstream(entry.path() / "comm") >> name;
            if (name != "halcyon-server") continue;
            const std::string log = std::filesystem::read_symlink(entry.path() / "fd" / "1", not_ours).string();
            if (log.starts_with(folder_.path() + "/")) return std::stoi(entry.path().filename().string());
        }
        stop("the session has no server");
    }

  private:
    scratch_folder folder_;
    std::filesystem::path before_;
    halcyon_handle handle_ = nullptr;
    int64_t iteration_ = 0;
};

}  // namespace halcyon::bench
