#include "programs/shared_file/write_together.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <type_traits>
#include <vector>

#include "base/clock.hpp"
#include "base/contained.hpp"
#include "base/sync_path.hpp"
#include "offload/client/mpi_agreement.hpp"
#include "offload/store/shared_plan.hpp"
#include "programs/shared_file/parallel_fill.hpp"

namespace halcyon {

using namespace offload;

namespace {

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

/// Collective: `work`, which calls no MPI, on each server; a failure of one is everybody's.
template <class Work>
result<void> each(MPI_Comm comm, const std::string& what, const Work& work) {
    return agree(comm, contained(what, [&work]() -> result<void> {
                     work();
                     return {};
                 }));
}

/// Collective: the values of all servers, in the servers' order. `Value` is trivially copyable.
template <class Value>
result<std::vector<Value>> all_of(MPI_Comm comm, const std::string& what, const std::vector<Value>& mine) {
    static_assert(std::is_trivially_copyable_v<Value> && std::is_standard_layout_v<Value>);
    int size = 0;
    MPI_Comm_size(comm, &size);
    std::vector<int> counts, begins;
    const auto size_both = [&] {
        counts.resize(static_cast<size_t>(size));
        begins.resize(static_cast<size_t>(size));
    };
    if (auto done = each(comm, what, size_both); !done) return done.why();
    const int count = static_cast<int>(mine.size());
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
    int total = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
        begins[i] = total;
        total += counts[i];
    }
    std::vector<Value> all;
    if (auto done = each(comm, what, [&] { all.resize(static_cast<size_t>(total)); }); !done) return done.why();
    // One element is one of these, so that counts stay small.
    MPI_Datatype element = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(sizeof(Value), MPI_BYTE, &element);
    MPI_Type_commit(&element);
    MPI_Allgatherv(mine.data(), count, element, all.data(), counts.data(), begins.data(), element, comm);
    MPI_Type_free(&element);
    return all;
}

/// One file on its way, on one server. The functions are collective, and what they return is the same everywhere.
class shared_writing {
  public:
    shared_writing(MPI_Comm servers, shared_offer& mine)
        : comm_(servers), offer_(mine), job_(mine.job), rank_(rank_in(servers)), temporary_(job_.path + ".tmp") {}

    /// Cuts the offer to the iterations that all servers have. Failure, on all alike: they begin with different ones.
    /// Then the offers are cut to what some servers lack: those keep all of theirs, the others can give these up.
    result<void> agree_on_iterations() {
        // The least of the negated is the greatest.
        int64_t ends[3] = {job_.iterations.front(), -job_.iterations.front(), job_.iterations.back()};
        MPI_Allreduce(MPI_IN_PLACE, ends, 3, MPI_INT64_T, MPI_MIN, comm_);
        const int64_t first = ends[0], latest_first = -ends[1];
        const int64_t last = first == latest_first ? ends[2] : latest_first - 1;
        std::erase_if(job_.iterations, [last](int64_t i) { return i > last; });
        std::erase_if(job_.blocks, [last](const block_view& b) { return b.iteration > last; });
        std::erase_if(job_.missing, [last](const missing_block& m) { return m.iteration > last; });
        std::erase_if(job_.unfinished, [last](int64_t i) { return i > last; });
        if (first == latest_first) return {};
        return failure{error_kind::internal,
                       job_.path + ": servers begin with different iterations, " + std::to_string(first) + " to " +
                           std::to_string(latest_first),
                       0};
    }
    [[nodiscard]] size_t iterations() const { return job_.iterations.size(); }

    result<file_report> write() {
        const int64_t begin = monotonic_ns();
        if (auto ready = agree(comm_, offer_.prepared); !ready) return ready.why();
        if (auto planned = plan(); !planned) return planned.why();
        file_report report;
        auto written = write_temporary(report);
        if (written) written = publish();
        if (!written && rank_ == 0) ::unlink(temporary_.c_str());
        if (!written) return written.why();
        for (const block_view& b : job_.blocks) report.raw_bytes += static_cast<int64_t>(b.data.size());
        report.write_ns = monotonic_ns() - begin - report.compress_ns;
        return report;
    }

  private:
    result<void> plan() {
        std::vector<shared_block> mine;
        const auto list = [&] {
            for (size_t i = 0; i < job_.blocks.size(); ++i) {
                const block_view& b = job_.blocks[i];
                mine.push_back({b.var->id, b.rank, b.block, rank_, b.iteration, static_cast<int64_t>(i), b.shape});
            }
        };
        if (auto listed = each(comm_, job_.path, list); !listed) return listed;
        auto blocks = all_of(comm_, job_.path, mine);
        if (!blocks) return blocks.why();
        auto missing = all_of(comm_, job_.path, job_.missing);
        if (!missing) return missing.why();
        auto unfinished = all_of(comm_, job_.path, job_.unfinished);
        if (!unfinished) return unfinished.why();
        return each(comm_, job_.path, [&] {
            plan_ = plan_shared_file(*job_.data, job_.iterations, *std::move(blocks));
            file_.about = job_;
            file_.about.blocks.clear();
            file_.about.missing = *std::move(missing);
            file_.about.unfinished = *std::move(unfinished);
            file_.datasets = plan_.datasets;
        });
    }

    result<void> write_temporary(file_report& report) {
        result<void> mine;
        if (rank_ == 0) mine = contained(job_.path, [this] { return offer_.lay_out(file_); });
        if (auto all = agree(comm_, mine); !all) return all;
        {
            // Where the system has one HDF5 for both, the node server's threads must keep away from it.
            const std::lock_guard lock(*offer_.library);
            mine = parallel_fill(comm_, file_, plan_, job_.blocks, report);
        }
        if (mine && job_.sync) mine = sync_file(temporary_);
        return agree(comm_, mine);
    }

    result<void> publish() {
        const result<void> parts = contained(job_.path, [this] { return offer_.publish_parts(job_.iterations); });
        if (auto all = agree(comm_, parts); !all) return all;
        result<void> mine;
        if (rank_ == 0 && std::rename(temporary_.c_str(), job_.path.c_str()) != 0)
            mine = system_failure(job_.path + ": cannot rename " + temporary_ + " to it", errno);
        if (rank_ == 0 && mine && job_.sync)
            mine = sync_directory(std::filesystem::path(job_.path).parent_path().string());
        if (auto all = agree(comm_, mine); !all) return all;
        offer_.published();
        return {};
    }

    MPI_Comm comm_;
    shared_offer& offer_;
    file_job& job_;
    int rank_;
    std::string temporary_;
    shared_plan plan_;
    shared_file file_;
};

}  // namespace

void write_together(MPI_Comm servers, shared_offer& mine, shared_outcome& outcome) {
    shared_writing writing(servers, mine);
    const result<void> begun = writing.agree_on_iterations();
    outcome.iterations = writing.iterations();
    outcome.report = begun ? writing.write() : result<file_report>(begun.why());
    if (outcome.report) return;
    int again = monotonic_ns() < mine.give_up_ns ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &again, 1, MPI_INT, MPI_MIN, servers);
    outcome.try_again = again != 0;
}

}  // namespace halcyon
