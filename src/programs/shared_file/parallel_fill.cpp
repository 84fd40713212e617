#include "programs/shared_file/parallel_fill.hpp"

#include <hdf5.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/contained.hpp"
#include "offload/client/mpi_agreement.hpp"
#include "offload/store/hdf5/chunk_encoder.hpp"
#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/handle.hpp"
#include "offload/store/hdf5/types.hpp"
#include "programs/shared_file/quiet_mpi_io.hpp"

#ifndef H5_HAVE_PARALLEL
#error "halcyon-server-world needs an HDF5 that was built with MPI"
#endif

namespace halcyon {

using namespace offload;
using namespace offload::hdf5;

namespace {

list_handle parallel_access(MPI_Comm servers) {
    list_handle access{check(H5Pcreate(H5P_FILE_ACCESS), "file access list")};
    check(H5Pset_fapl_mpio(access.get(), servers, MPI_INFO_NULL), "parallel access");
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), "format version");
    check(H5Pset_all_coll_metadata_ops(access.get(), true), "collective metadata");
    return access;
}

list_handle collective_transfer() {
    list_handle transfer{check(H5Pcreate(H5P_DATASET_XFER), "transfer list")};
    check(H5Pset_dxpl_mpio(transfer.get(), H5FD_MPIO_COLLECTIVE), "collective transfer");
    return transfer;
}

/// Fills the datasets of one file. What fails on one server alone is kept until the end: the others count on it.
class filling {
  public:
    filling(const shared_file& file, const shared_plan& plan, std::span<const block_view> mine, MPI_Comm servers)
        : file_(file), mine_(mine) {
        int server = 0, all = 0;
        MPI_Comm_rank(servers, &server);
        MPI_Comm_size(servers, &all);
        for (size_t i = 0; i < plan.datasets.size(); ++i)
            targets_.push_back(target_of(plan.datasets[i], plan.parts[i], server, all));
        datasets_.resize(targets_.size());
    }

    void fill(hid_t file) {
        const list_handle transfer = collective_transfer();
        // First all that may throw: it does so on every server alike.
        std::vector<dataset_handle> datasets = std::move(datasets_);  // closed before the file is
        for (size_t i = 0; i < targets_.size(); ++i)
            datasets[i] =
                dataset_handle{check(H5Dopen2(file, targets_[i].path.c_str(), H5P_DEFAULT), targets_[i].path)};
        for (size_t i = 0; i < targets_.size(); ++i)
            for (size_t round = 0; round < targets_[i].rounds; ++round)
                write(datasets[i].get(), targets_[i], round, transfer.get());
    }

    [[nodiscard]] const result<void>& outcome() const { return outcome_; }
    void count(file_report& report) const {
        report.stored_bytes += stored_bytes_;
        report.compress_ns += encoder_.busy_ns();
        report.overflowed_values += encoder_.overflows();
    }

  private:
    struct target {
        const shared_dataset* about = nullptr;
        std::string path;
        std::vector<const shared_plan::part*> own;
        size_t rounds = 0;  ///< collective writes
    };

    target target_of(const shared_dataset& d, std::span<const shared_plan::part> parts, int server, int servers) const {
        target t;
        t.about = &d;
        t.path = "/" + file_.about.data->variables.at(d.variable_id).name + "/" + domain_name(d.domain, d.variant);
        // As many collective writes as the server with the most blocks has: the others take part with nothing.
        std::vector<size_t> blocks(static_cast<size_t>(servers), 0);
        for (const shared_plan::part& p : parts) {
            ++blocks[static_cast<size_t>(p.server)];
            if (p.server == server) t.own.push_back(&p);
        }
        if (d.shape.dimensions.count() > 0) t.rounds = *std::max_element(blocks.begin(), blocks.end());
        return t;
    }

    void write(hid_t dataset, const target& t, size_t round, hid_t transfer) {
        const shared_plan::part* part = round < t.own.size() ? t.own[round] : nullptr;
        const shared_dataset& d = *t.about;
        const variable& v = file_.about.data->variables.at(d.variable_id);
        const encoding how = encoding::uncompressed(v, file_.about.data->layouts.at(v.layout_id).type);
        const hid_t type = how.precision == precision::half ? half_type() : type_of(how.type);
        std::span<const std::byte> bytes;
        space_handle memory, target;
        const result<void> ready = contained(file_.about.path + ": '" + v.name + "'", [&]() -> result<void> {
            target = space_handle{check(H5Dget_space(dataset), v.name)};
            if (part == nullptr) return {};
            const block_view& b = mine_[static_cast<size_t>(part->index)];
            memory = select(b, *part, d, target.get());
            bytes = encoder_.encode(b.data, how).bytes;
            stored_bytes_ += b.shape.interior().count() * static_cast<int64_t>(how.stored_element_bytes());
            return {};
        });
        if (!ready) {
            keep(ready.why());
            part = nullptr;
        }
        if (part == nullptr) {
            // Not H5S_NULL: with it HDF5 1.10 writes an element all the same.
            const hsize_t one = 1;
            memory = space_handle{H5Screate_simple(1, &one, nullptr)};
            H5Sselect_none(memory.get());
            H5Sselect_none(target.get());
        }
        static constexpr std::byte nothing{};
        const void* values = bytes.empty() ? &nothing : bytes.data();
        if (H5Dwrite(dataset, type, memory.get(), target.get(), transfer, values) < 0)
            keep({error_kind::system, file_.about.path + ": '" + v.name + "': write: " + last_message(), 0});
    }

    /// Selects in `target` where the block goes; returns the block in memory, with the same part of it selected: of a
    /// placed variable the interior, of others all.
    static space_handle select(const block_view& b, const shared_plan::part& part, const shared_dataset& d,
                               hid_t target) {
        const bool whole = d.domain == shared_dataset::whole;
        const extents inner = whole ? b.shape.interior() : b.shape.dimensions;
        std::vector<hsize_t> shape{1}, from{0}, count{1}, to{static_cast<hsize_t>(part.row)};
        for (int i = 0; i < inner.rank; ++i) {
            shape.push_back(static_cast<hsize_t>(b.shape.dimensions[i]));
            from.push_back(static_cast<hsize_t>(whole ? b.shape.ghost_before[i] : 0));
            count.push_back(static_cast<hsize_t>(inner[i]));
            to.push_back(static_cast<hsize_t>(whole ? b.shape.offset[i] : 0));
        }
        space_handle memory{
            check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), b.var->name)};
        if (inner.count() == 0) {
            check(H5Sselect_none(memory.get()), b.var->name);
            check(H5Sselect_none(target), b.var->name);
            return memory;
        }
        check(H5Sselect_hyperslab(memory.get(), H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr),
              b.var->name);
        check(H5Sselect_hyperslab(target, H5S_SELECT_SET, to.data(), nullptr, count.data(), nullptr), b.var->name);
        return memory;
    }

    void keep(failure why) {
        if (outcome_) outcome_ = std::move(why);
    }

    const shared_file& file_;
    std::span<const block_view> mine_;
    std::vector<target> targets_;
    std::vector<dataset_handle> datasets_;  ///< their room
    chunk_encoder encoder_;
    int64_t stored_bytes_ = 0;
    result<void> outcome_;
};

}  // namespace

result<void> parallel_fill(MPI_Comm servers, const shared_file& file, const shared_plan& plan,
                           std::span<const block_view> mine, file_report& report) {
    const silence quiet;
    const std::string path = file.about.path + ".tmp";
    quiet_mpi_io io(path);
    std::optional<filling> work;
    const result<void> prepared = contained(path, [&]() -> result<void> {
        work.emplace(file, plan, mine, servers);
        return {};
    });
    if (auto all = agree(servers, prepared); !all) return all;
    const result<void> filled = contained(path, [&]() -> result<void> {
        file_handle h{check(H5Fopen(path.c_str(), H5F_ACC_RDWR, parallel_access(servers).get()), path + ": open")};
        work->fill(h.get());
        check(H5Fclose(h.release()), path + ": close");
        return {};
    });
    // The system's reason says more than what HDF5 made of it.
    if (auto went = io.outcome(); !went) return went;
    if (!filled) return filled;
    work->count(report);
    return work->outcome();
}

}  // namespace halcyon
