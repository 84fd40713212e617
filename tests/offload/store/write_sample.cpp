/// Writes a small run as node servers would, for tests of its readers.
///
///   write_sample FOLDER SAMPLE [TYPE]
///
/// A run "sim" of four clients on two nodes. Its values follow from their place, so that readers can compute them:
/// theta(t, z, y, x) = 1000 iteration + 100 z + 10 y + x. TYPE: of the store, hdf5 unless said. Prints what it
/// published, one data file per line.

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "job_builder.hpp"
#include "offload/store/store.hpp"

namespace {

using namespace halcyon::offload;
using halcyon::offload::testing::job_builder;

constexpr int64_t nz = 3, ny = 8, nx = 10;
constexpr int clients = 4, clients_per_node = 2, ghost = 1;

/// Rows of y that a client owns: 2 each, with one ghost layer on both sides.
constexpr int64_t rows_of_client = ny / clients;

class sample {
  public:
    sample(std::string folder, const std::string& kind, const std::string& type)
        : folder_(std::move(folder)), kind_(kind) {
        const halcyon::result<store_module> module = load_store_module(type);
        modules_ = halcyon::result<store_module>(module).value();
        store_.reset(modules_.make_file_store());
    }

    void write(const std::vector<int64_t>& iterations, int node, int part = 0) {
        job_builder b("sim");
        declare(b);
        for (const int64_t iteration : iterations) {
            for (int rank = node * clients_per_node; rank < (node + 1) * clients_per_node; ++rank) {
                if (iteration == iterations.front() && iteration == 0) add_coordinates(b, rank);
                add_fields(b, iteration, rank);
            }
        }
        const std::string writer = node == 0 ? "n0000" : "n0001";
        const std::string name = file_name("sim", writer, iterations.front(), part, modules_.traits.ending);
        file_job job = b.job(folder_ + "/" + name, iterations, writer, part);
        job.ranks = clients;
        if (kind_ == "missing" && node == 1 && iterations.back() == 3) {
            std::erase_if(job.blocks, [](const block_view& v) { return v.iteration == 3 && v.rank == 3; });
            for (const auto& v : job.data->variables) {
                if (v.time_varying) job.missing.push_back({v.id, 3, 3, 0, missing_block::why::client_died});
            }
        }
        store_->write(job).value();
        std::printf("%s\n", name.c_str());
    }

    void view() {
        if (!modules_.traits.has_view()) return;
        const std::vector<std::string> writers{"n0000", "n0001"};
        const std::unique_ptr<view_builder> builder(modules_.make_view_builder(folder_.c_str(), "sim"));
        std::printf("%lld iterations\n", static_cast<long long>(builder->rebuild(writers).value()));
    }

  private:
    void declare(job_builder& b) {
        b.target().index = kind_ == "packed";
        const uint32_t mesh_id = b.add_mesh({"grid", mesh_type::rectilinear, {"z", "y", "x"}, "", "", ""});
        const uint32_t place_id = b.add_place("whole");
        for (const std::string name : {"z", "y", "x"}) {
            variable& v = b.add_variable(name, scalar_type::float64);
            v.time_varying = false;
            v.unit = "m";
            v.place_id = place_id;
            v.description = "position along " + name;
            lines_[name] = &v;
        }
        variable& theta = b.add_variable("theta", scalar_type::float32);
        theta.unit = "K";
        theta.description = "potential temperature";
        theta.place_id = place_id;
        theta.mesh_id = mesh_id;
        theta_ = &theta;
        variable& cloud = b.add_variable("micro/qc", scalar_type::float64);
        cloud.place_id = place_id;
        cloud.mesh_id = mesh_id;
        cloud_ = &cloud;
        variable& flags = b.add_variable("flags", scalar_type::int32);
        flags.place_id = place_id;
        flags_ = &flags;
        variable& steps = b.add_variable("steps", scalar_type::int64);
        steps.description = "steps done by each client";
        steps_ = &steps;
        variable& particles = b.add_variable("particles", scalar_type::float32);
        particles_ = &particles;
        if (kind_ == "sealed") {
            b.target().checksum = true;
            theta.compression = compression::gzip;
            cloud.compression = compression::zstd;
        }
        if (kind_ == "packed") {
            theta.precision = precision::half;
            cloud.precision = precision::bitround;
            cloud.significant_bits = 8;
            cloud.compression = compression::gzip;
        }
    }

    void add_coordinates(job_builder& b, int rank) {
        std::vector<double> z, y;
        for (int64_t k = 0; k < nz; ++k) z.push_back(50.0 * static_cast<double>(k * k));
        for (int64_t j = 0; j < rows_of_client; ++j)
            y.push_back(100.0 * static_cast<double>(rank * rows_of_client + j));
        b.add_block(*lines_["z"], 0, rank, {nz}, z, {nz}, {0});
        b.add_block(*lines_["y"], 0, rank, {rows_of_client}, y, {ny}, {rank * rows_of_client});
        b.add_block(*lines_["x"], 0, rank, {nx}, halcyon::offload::testing::counting<double>(nx, 0, 200), {nx}, {0});
    }

    template <class T>
    void add_field(job_builder& b, const variable& v, int64_t iteration, int rank, double scale) {
        const int64_t first = rank * rows_of_client;
        std::vector<T> values;
        for (int64_t k = 0; k < nz; ++k) {
            for (int64_t j = first - ghost; j < first + rows_of_client + ghost; ++j) {
                for (int64_t i = 0; i < nx; ++i) {
                    const bool halo = j < first || j >= first + rows_of_client;
                    const double value = static_cast<double>(1000 * iteration + 100 * k + 10 * j + i) * scale;
                    values.push_back(static_cast<T>(halo ? -1 : value));
                }
            }
        }
        b.add_block(v, iteration, rank, {nz, rows_of_client + 2 * ghost, nx}, values, {nz, ny, nx}, {0, first, 0},
                    {0, ghost, 0}, {0, ghost, 0});
    }

    void add_fields(job_builder& b, int64_t iteration, int rank) {
        add_field<float>(b, *theta_, iteration, rank, 1);
        add_field<double>(b, *cloud_, iteration, rank, 0.25);
        add_field<int32_t>(b, *flags_, iteration, rank, 1);
        b.add_block<int64_t>(*steps_, iteration, rank, {}, {10 * iteration + rank});
        // Every client has another number of particles, so there is no common array.
        b.add_block(
            *particles_, iteration, rank, {rank + 1},
            halcyon::offload::testing::counting<float>(static_cast<size_t>(rank) + 1, static_cast<float>(iteration)));
    }

    std::string folder_, kind_;
    store_module modules_;
    std::unique_ptr<file_store> store_;
    std::map<std::string, variable*> lines_;
    variable *theta_ = nullptr, *cloud_ = nullptr, *flags_ = nullptr, *steps_ = nullptr, *particles_ = nullptr;
};

void two_iterations_per_file(sample& s) {
    for (const int node : {0, 1}) {
        s.write({0, 1}, node);
        s.write({2, 3}, node);
    }
    s.view();
}

void one_iteration_per_file(sample& s) {
    for (const int node : {0, 1}) {
        for (const int64_t iteration : {0, 1, 2, 3}) s.write({iteration}, node);
    }
    s.view();
}

/// Node 1 has not published iterations 2 and 3.
void late_node(sample& s) {
    s.write({0, 1}, 0);
    s.write({2, 3}, 0);
    s.write({0, 1}, 1);
    s.view();
}

}  // namespace

int main(int count, char** arguments) {
    const std::map<std::string, std::function<void(sample&)>> kinds{
        {"plain", two_iterations_per_file},  {"missing", two_iterations_per_file}, {"packed", two_iterations_per_file},
        {"sealed", two_iterations_per_file}, {"single", one_iteration_per_file},   {"late", late_node},
    };
    if (count < 3 || count > 4 || !kinds.contains(arguments[2])) {
        std::fprintf(stderr, "usage: write_sample FOLDER plain|single|missing|packed|sealed|late [TYPE]\n");
        return 2;
    }
    try {
        sample s(arguments[1], arguments[2], count > 3 ? arguments[3] : "hdf5");
        kinds.at(arguments[2])(s);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "write_sample: %s\n", e.what());
        return 1;
    }
}
