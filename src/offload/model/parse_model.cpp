#include <cmath>

#include "base/closest_name.hpp"
#include "base/contained.hpp"
#include "base/yaml/schema.hpp"
#include "offload/model/configuration_schema.hpp"
#include "offload/model/parameter_check.hpp"
#include "offload/model/parse_steps.hpp"

namespace halcyon::offload {
namespace {

void parse_simulation(const config_value& root, model& m) {
    const config_value name = *root.find("simulation");
    m.simulation = name.text();
    name.check_name("simulation", m.simulation);
    if (m.simulation.starts_with('.')) name.refuse("the name begins with '.', so its files would be hidden");
    constexpr size_t longest = 120;  // file names add about 40 bytes, and 255 is the limit of most file systems
    if (m.simulation.size() > longest) {
        name.refuse("the name has " + std::to_string(m.simulation.size()) + " bytes; at most " +
                    std::to_string(longest));
    }
    if (const auto v = root.find("inline")) m.run_inline = v->boolean();
    if (const auto v = root.find("close")) m.detach_at_close = v->text() == "detach";
}

void parse_steerable(const config_value& value, parameter& p) {
    const auto steerable = value.find("steerable");
    p.is_steerable = steerable && steerable->boolean();
    if (!p.is_steerable) return;
    if (const auto v = value.find("mutable"); v && !p.is_mutable)
        v->refuse("a steerable parameter changes while the simulation runs; leave out 'mutable: false'");
    p.is_mutable = true;
}

void parse_parameter(const std::string& name, const config_value& value, model& m) {
    if (name == "rank" || name == "size" || name == "block") {
        value.refuse("'" + name + "' is built in; choose another name");
    }
    if (!is_parameter_name(name)) {
        value.refuse(
            "'" + printable(name) +
            "' cannot be used in expressions; a name is a letter or '_', then letters, digits and '_', and not "
            "min, max or ceil");
    }
    parameter p;
    p.name = name;
    if (!value.is(yaml::node_kind::map)) {
        p.value = value.number();
    } else {
        p.value = value.find("value")->number();
        if (const auto v = value.find("mutable")) p.is_mutable = v->boolean();
        parse_steerable(value, p);
        for (const char* bound : {"min", "max"}) {
            const auto v = value.find(bound);
            if (v && !p.is_mutable) v->refuse("only a parameter with 'mutable: true' has bounds");
            if (!v && p.is_steerable)
                value.find("steerable")
                    ->refuse(std::string("needs '") + bound +
                             "': values from outside the simulation are checked against bounds");
        }
        if (const auto v = value.find("min")) p.min = v->number();
        if (const auto v = value.find("max")) p.max = v->number();
        if (p.max && *p.max < p.min) value.find("max")->refuse("max is below min");
        if (const auto fits = check_parameter_value(p, p.value); !fits) {
            value.find("value")->refuse(fits.why().message);
        }
    }
    m.parameters.push_back(std::move(p));
}

void parse_parameters(const config_value& root, const std::map<std::string, double>& overrides, model& m) {
    constexpr size_t most = 10'000;
    if (const auto parameters = root.find("parameters")) {
        for (const auto& [name, value] : parameters->entries()) parse_parameter(name, value, m);
        if (m.parameters.size() > most) parameters->refuse("more than " + std::to_string(most) + " parameters");
        if (const size_t steerable = m.steerable().size(); steerable > most_steerable)
            parameters->refuse(std::to_string(steerable) + " parameters are steerable; at most " +
                               std::to_string(most_steerable));
    }
    for (const auto& [name, value] : overrides) {
        parameter* p = m.find_parameter(name);
        if (p == nullptr) throw error(unknown_parameter(m, name));
        check_parameter_value(*p, value).value();
        p->value = value;
    }
}

void parse_buffer(const config_value& from, buffer_settings& buffer) {
    if (const auto v = from.find("size")) {
        buffer.bytes = v->bytes();
        buffer.size_where = v->where();
        if (buffer.bytes == 0) v->refuse("the buffer needs a size; 'inline: true' works without one");
    }
    if (const auto v = from.find("when-full")) buffer.when_full = v->word(full_policy_words);
    if (const auto v = from.find("blocks-per-client")) {
        buffer.blocks_per_client = v->integer();
        buffer.blocks_where = v->where();
    }
    if (const auto v = from.find("max-pending-signals")) buffer.max_pending_signals = v->integer();
    if (const auto v = from.find("spill-directory")) {
        buffer.spill_directory = v->text();
        buffer.spill_where = v->where();
    }
    if (const auto v = from.find("max-spill")) buffer.max_spill_bytes = v->bytes();
    if (const auto v = from.find("huge-pages")) buffer.huge_pages = v->boolean();
}

void parse_turns(const config_value& from, server_settings& server) {
    if (const auto v = from.find("turns")) server.turns = v->word(turns_words);
    const auto slots = from.find("transfer-slots");
    if (!slots || !slots->boolean()) return;
    if (from.find("turns") && server.turns != turns::transfer_slots)
        slots->refuse("true is the same as 'turns: transfer-slots', and 'turns' is '" +
                      std::string(name_of(server.turns)) + "'; leave one of the two out");
    server.turns = turns::transfer_slots;
}

void parse_resources(const config_value& root, model& m) {
    const auto resources = root.find("resources");
    if (!resources) return;
    if (const auto v = resources->find("servers-per-node")) {
        m.servers_per_node = static_cast<int>(v->integer());
        m.servers_where = v->where();
    }
    if (const auto buffer = resources->find("buffer")) parse_buffer(*buffer, m.buffer);
    const auto server = resources->find("server");
    if (!server) return;
    if (const auto v = server->find("threads")) m.server.threads = static_cast<int>(v->integer());
    if (const auto v = server->find("spin")) m.server.spin = v->duration();
    parse_turns(*server, m.server);
    if (const auto v = server->find("max-restarts")) m.server.max_restarts = static_cast<int>(v->integer());
    if (const auto v = server->find("hang-timeout")) {
        m.server.hang_timeout = v->duration();
        if (m.server.hang_timeout < least_hang_timeout)
            v->refuse("'" + v->text() +
                      "' is too short for a server to start in, or to show that it lives; at least 1 s");
    }
    if (const auto v = server->find("retry")) m.server.retry = v->duration();
    if (const auto v = server->find("log-directory")) {
        m.server.log_directory = v->text();
        m.server.log_where = v->where();
    }
}

/// What only servers can do is refused where there are none.
void check_inline(const model& m) {
    if (!m.run_inline) return;
    for (const store& s : m.stores)
        if (s.collective)
            throw error(error_kind::config, s.collective_where +
                                                ": a file that all servers write together needs servers; this "
                                                "configuration says inline: true");
    for (const event& e : m.events)
        if (e.scope == scope::job)
            throw error(error_kind::config,
                        e.scope_where + ": 'job' needs servers; this configuration says inline: true");
}

model build(const config_value& root, const std::map<std::string, double>& overrides) {
    model m;
    parse_simulation(root, m);
    parse_parameters(root, overrides, m);
    parse_resources(root, m);
    parse_stores(root, m);
    if (const auto data = root.find("data")) {
        parse_layouts(*data, m);
        parse_places(*data, m);
        parse_mesh_names(*data, m);
        parse_variables(*data, m);
        parse_mesh_variables(*data, m);
        parse_curves(*data, m);
    }
    parse_actions(root, m);
    parse_events(root, m);
    check_inline(m);
    return m;
}

}  // namespace

std::vector<std::string> expression_names(const model& m) {
    std::vector<std::string> out{"rank", "size", "block"};
    for (const parameter& p : m.parameters) out.push_back(p.name);
    return out;
}

std::optional<std::string> unbounded_parameter(const model& m, const expression& e) {
    for (const std::string& name : e.names()) {
        for (const parameter& p : m.parameters)
            if (p.name == name && p.is_mutable && !p.max) return name;
    }
    return std::nullopt;
}

result<model> parse_model(std::string_view yaml_text, std::string_view file_name,
                          const std::map<std::string, double>& overrides) {
    return contained(std::string(file_name), [&]() -> result<model> {
        static const yaml::schema rules = yaml::schema::from_json(configuration_schema()).value();
        const auto document = yaml::parse(yaml_text, file_name);
        if (!document) return document.why();
        if (const auto fits = rules.check(*document, file_name); !fits) return fits.why();
        return build(config_value(*document, file_name, ""), overrides);
    });
}

}  // namespace halcyon::offload
