#include "offload/client/run_file.hpp"

#include <cmath>
#include <filesystem>
#include <regex>

#include "base/rapidjson.hpp"
#include "base/replace_file.hpp"
#include "offload/output/run_mark.hpp"

namespace halcyon::offload {

result<void> run_file::save(const std::string& directory) const {
    rapidjson::StringBuffer out;
    rapidjson::PrettyWriter<rapidjson::StringBuffer> w(out);
    w.StartObject();
    w.Key("format");
    w.Int(1);
    w.Key("approach");
    w.String(approach.c_str());
    w.Key("simulation");
    w.String(simulation.c_str());
    w.Key("ranks");
    w.Int(ranks);
    w.Key("nodes");
    w.Int(static_cast<int>(clients_per_node.size()));
    w.Key("clients_per_node");
    w.StartArray();
    for (const int n : clients_per_node) w.Int(n);
    w.EndArray();
    w.Key("dedicated_cores");
    w.Int(dedicated_cores);
    w.Key("started_ns");
    w.Int64(started_ns);
    w.Key("ended_ns");
    if (ended_ns) {
        w.Int64(*ended_ns);
    } else {
        w.Null();
    }
    w.Key("parameters");
    w.StartObject();
    for (const auto& [name, value] : parameters) {
        w.Key(name.c_str());
        if (value == std::floor(value) && std::fabs(value) < 1e15)
            w.Int64(static_cast<int64_t>(value));
        else
            w.Double(value);
    }
    w.EndObject();
    w.Key("writers");
    w.StartArray();
    for (const std::string& name : writers) w.String(name.c_str());
    w.EndArray();
    const int64_t run_ns = ended_ns.value_or(0) - started_ns;
    for (const auto& [key, ns] : {std::pair<const char*, int64_t>{"run_s", run_ns},
                                  {"open_s", open_ns},
                                  {"close_s", close_ns},
                                  {"compute_s", run_ns - open_ns - close_ns - visible_ns}}) {
        w.Key(key);
        if (ended_ns)
            w.Double(static_cast<double>(ns) * 1e-9);
        else
            w.Null();
    }
    w.EndObject();
    std::error_code why;
    std::filesystem::create_directories(directory, why);
    out.Put('\n');
    return replace_file(directory + "/run.json", {out.GetString(), out.GetSize()});
}

bool is_record_of_server(const std::string& name) {
    static const std::regex records(R"(\.?(phases|server|counts)-[nc]\d{4,}\.(csv|json|log)(\.tmp|\.room)?)");
    return std::regex_match(name, records);
}

bool belongs_to_run(const std::string& name, const std::string& simulation) {
    static const std::regex manifest(R"(run\.json(\.tmp)?)");
    static const std::regex data(R"((([nc]\d{4,}|all)\.i\d{8,}(\.p\d{2,})?\.|view\..*\.)?(h5|xmf)(\..*tmp)?)");
    const std::string visible = name.starts_with('.') ? name.substr(1) : name;
    if (is_run_mark(name) || is_record_of_server(name) || std::regex_match(visible, manifest)) return true;
    return visible.starts_with(simulation + ".") && std::regex_match(visible.substr(simulation.size() + 1), data);
}

}  // namespace halcyon::offload
