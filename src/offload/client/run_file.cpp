#include "offload/client/run_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

#include "base/rapidjson.hpp"
#include "base/replace_file.hpp"
#include "offload/output/run_mark.hpp"
#include "offload/store/file_name.hpp"

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
    static const std::regex records(
        R"(\.?(phases|server|counts|steering|socket)-[nc]\d{4,}\.(csv|json|log)(\.tmp|\.room)?)");
    return std::regex_match(name, records);
}

bool is_of_format(const std::string& name, const std::string& simulation, const store_traits& format) {
    std::string_view rest = name;
    if (rest.starts_with('.')) rest.remove_prefix(1);
    if (!rest.starts_with(simulation + ".")) return false;
    rest.remove_prefix(simulation.size());
    // `rest` as it would be published: without `.tmp`, `.layout.tmp`.
    const auto published = [&rest](std::string_view ending) -> std::optional<std::string_view> {
        const size_t at = rest.rfind(ending);
        if (ending.empty() || at == std::string_view::npos) return std::nullopt;
        const std::string_view behind = rest.substr(at + ending.size());
        if (!behind.empty() && !(behind.starts_with('.') && behind.ends_with("tmp"))) return std::nullopt;
        return rest.substr(0, at + ending.size());
    };
    if (const auto data = published(format.ending);
        data && parse_file_name(simulation + std::string(*data), simulation, format.ending))
        return true;
    return std::any_of(format.view_endings.begin(), format.view_endings.end(), [&](std::string_view ending) {
        const auto view = published(ending);
        return view && (*view == ending || view->starts_with(".view."));
    });
}

bool is_record_of_run(const std::string& name) {
    static const std::regex manifest(R"(\.?run\.json(\.tmp)?)");
    return is_run_mark(name) || is_record_of_server(name) || std::regex_match(name, manifest);
}

}  // namespace halcyon::offload
