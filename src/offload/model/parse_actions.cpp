#include "base/closest_name.hpp"
#include "offload/model/parse_steps.hpp"

namespace halcyon::offload {
namespace {

constexpr std::chrono::nanoseconds least_plugin_timeout = std::chrono::milliseconds(100);
constexpr int64_t least_plugin_memory = int64_t{16} << 20;

/// Refuses keys that belong to another type of action: `store` under type log would otherwise do nothing.
void check_keys(const config_value& value, const std::string& type) {
    const auto only_for = [&](const char* key, const char* owner) {
        const auto found = value.find(key);
        if (found && type != owner) {
            found->refuse("belongs to type " + std::string(owner) + ", but this action is of type " + type);
        }
    };
    only_for("store", "store");
    only_for("module", "module");
    only_for("function", "module");
    only_for("options", "module");
    for (const char* key : {"timeout", "memory", "retries", "inline"}) only_for(key, "module");
}

void parse_isolation(const config_value& value, action& a) {
    if (const auto v = value.find("inline")) a.run_inline = v->boolean();
    for (const char* key : {"timeout", "memory", "retries"})
        if (const auto v = value.find(key); v && a.run_inline)
            v->refuse("is for a plugin in a process of its own, and this one has 'inline: true'");
    if (const auto v = value.find("timeout")) {
        a.timeout = v->duration();
        if (a.timeout < least_plugin_timeout)
            v->refuse("'" + v->text() + "' is too short for a plugin to start in; at least 100 ms");
    }
    if (const auto v = value.find("memory")) {
        a.memory_bytes = v->bytes();
        if (a.memory_bytes < least_plugin_memory)
            v->refuse("'" + v->text() + "' is too little for any process; at least 16 MiB");
    }
    if (const auto v = value.find("retries")) a.retries = static_cast<int>(v->integer());
}

std::string store_of_action(const config_value& value, const std::vector<std::string>& stores) {
    if (const auto name = value.find("store")) return stores[name->index_among(stores, "store", "stores")];
    if (stores.size() == 1) return stores[0];
    value.refuse(stores.empty() ? "there is no store to store into"
                                : "'store' is missing; known stores: " + list_names(stores));
}

}  // namespace

void parse_stores(const config_value& root, model& m) {
    const auto stores = root.find("stores");
    if (!stores) return;
    for (const auto& [name, value] : stores->entries()) {
        value.check_name("store", name);
        store s;
        s.name = name;
        s.type_where = value.where();
        if (const auto v = value.find("type")) {
            s.type = v->text();
            s.type_where = v->where();
            v->check_name("store type", s.type);  // it becomes part of a library's file name
        }
        const config_value path = *value.find("path");
        s.path = path.text();
        s.path_where = path.where();
        if (const auto v = value.find("iterations-per-file")) s.iterations_per_file = static_cast<int>(v->integer());
        if (const auto v = value.find("view-interval")) {
            s.view_interval = v->duration();
            s.view_where = v->where();
        }
        if (const auto v = value.find("durable")) s.durable = v->boolean();
        if (const auto v = value.find("collective")) {
            s.collective = v->boolean();
            s.collective_where = v->where();
        }
        if (const auto v = value.find("index")) s.index = v->boolean();
        if (const auto v = value.find("expected-reader")) s.expected_reader = v->word(reader_words);
        if (const auto v = value.find("checksum")) s.checksum = v->boolean();
        if (const auto v = value.find("existing")) s.replace_existing = v->text() == "replace";
        m.stores.push_back(std::move(s));
    }
}

void parse_actions(const config_value& root, model& m) {
    const auto actions = root.find("actions");
    if (!actions) return;
    const auto stores = names_of(m.stores);
    for (const auto& [name, value] : actions->entries()) {
        value.check_name("action", name);
        action a;
        a.name = name;
        a.type = value.find("type")->text();
        check_keys(value, a.type);
        if (a.type == "store") a.store = store_of_action(value, stores);
        if (a.type == "module") {
            const auto module = value.find("module");
            const auto function = value.find("function");
            if (!module || !function) value.refuse("an action of type module needs 'module' and 'function'");
            a.module = module->text();
            a.function = function->text();
            a.module_where = module->where();
            a.function_where = function->where();
            if (const auto options = value.find("options")) {
                for (const auto& [key, option] : options->entries()) a.options[key] = option.text();
            }
            parse_isolation(value, a);
        }
        m.actions.push_back(std::move(a));
    }
}

void parse_events(const config_value& root, model& m) {
    const auto events = root.find("events");
    if (!events) return;
    const auto actions = names_of(m.actions);
    for (const auto& [name, value] : events->entries()) {
        value.check_name("event", name);
        event e;
        e.id = static_cast<uint32_t>(m.events.size());
        e.name = name;
        for (const config_value& item : value.find("actions")->items()) {
            e.action_ids.push_back(item.index_among(actions, "action", "actions"));
        }
        if (const auto v = value.find("scope")) {
            e.scope = v->word(scope_words);
            e.scope_where = v->where();
        }
        m.events.push_back(std::move(e));
    }
}

}  // namespace halcyon::offload
