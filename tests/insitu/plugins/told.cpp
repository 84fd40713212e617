// A plugin by the C++ header: one line in told.txt of the run's directory for each event, of all that it is told.

#include <fstream>
#include <numeric>
#include <string>

#include "halcyon/action.hpp"

namespace {

class teller {
  public:
    explicit teller(const halcyon_action_host& host) : host_(host) {
        if (std::string_view(halcyon_action_option(&host, "fail", "")) == "init")
            throw std::runtime_error("it was told to");
    }

    void run(const halcyon_action_context& now) {
        std::ofstream out(std::string(host_.directory) + "/told.txt", std::ios::app);
        out << now.event << ' ' << now.iteration << ' ' << now.rank << " time " << now.time << " run " << ++runs_
            << (host_.isolated != 0 ? " isolated" : " inline") << " of " << host_.ranks;
        for (size_t i = 0; i < now.parameter_count; ++i)
            out << ' ' << now.parameters[i]->name << '=' << now.parameters[i]->value;
        for (const halcyon_action_block& b : halcyon::blocks_of(now)) {
            const auto v = halcyon::values<float>(b);
            out << " | " << b.variable << " of " << b.rank << '.' << b.block << " unit " << b.unit << " on " << b.mesh
                << ' ' << b.centering << " sum " << std::accumulate(v.begin(), v.end(), 0.0);
            tell_mesh(out, now, b);
        }
        out << '\n';
    }

  private:
    /// The first of its coordinates, as its writer wrote it once.
    void tell_mesh(std::ostream& out, const halcyon_action_context& now, const halcyon_action_block& b) const {
        const halcyon_action_mesh* mesh = halcyon_action_mesh_named(&host_, b.mesh);
        if (mesh == nullptr) return;
        const halcyon_action_block* x = halcyon_action_find(&now, mesh->coordinates[0], b.rank, 0);
        out << " " << mesh->type << " from ";
        if (x == nullptr)
            out << "nowhere";
        else
            out << halcyon::values<float>(*x).front() << " of iteration " << x->iteration;
    }

    const halcyon_action_host& host_;
    int runs_ = 0;
};

}  // namespace

HALCYON_PLUGIN_CLASS(told, teller);
