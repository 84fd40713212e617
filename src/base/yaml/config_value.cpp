#include "base/yaml/config_value.hpp"

#include <algorithm>

#include "base/closest_name.hpp"
#include "base/units.hpp"
#include "base/yaml/schema.hpp"

namespace halcyon::yaml {

void config_value::refuse(const std::string& message) const {
    throw error(failure_at(file_, node_->line, path_, message));
}

std::string config_value::where() const {
    return std::string(file_) + ":" + std::to_string(node_->line) + ": " + path_;
}

const node& config_value::expect(node_kind kind) const {
    if (node_->kind != kind) {
        throw error(error_kind::internal, where() + ": the schema let a value of the wrong kind pass");
    }
    return *node_;
}

std::optional<config_value> config_value::find(std::string_view key) const {
    const node* found = node_->find(key);
    if (found == nullptr) return std::nullopt;
    return config_value(*found, file_, path_of(path_, key));
}

int64_t config_value::bytes() const {
    auto out = parse_bytes(text());
    if (!out) refuse(out.why().message);
    return *out;
}

std::chrono::nanoseconds config_value::duration() const {
    auto out = parse_duration(text());
    if (!out) refuse(out.why().message);
    return *out;
}

std::vector<std::pair<std::string, config_value>> config_value::entries() const {
    std::vector<std::pair<std::string, config_value>> out;
    for (const map_entry& entry : node_->entries) {
        out.emplace_back(entry.key, config_value(entry.value, file_, path_of(path_, entry.key)));
    }
    return out;
}

std::vector<config_value> config_value::items() const {
    std::vector<config_value> out;
    for (size_t i = 0; i < node_->items.size(); ++i) {
        out.emplace_back(node_->items[i], file_, path_of(path_, i));
    }
    return out;
}

void config_value::check_name(const std::string& what, const std::string& name) const {
    std::string why;
    if (name.empty()) why = "is empty";
    if (name == "." || name == "..") why = "is a path, not a name";
    if (name.find('/') != std::string::npos) why = "holds '/', which separates groups";
    for (char c : name)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) why = "holds a control character";
    if (!why.empty()) refuse("the name of this " + what + " " + why);
}

uint32_t config_value::index_among(const std::vector<std::string>& known, const std::string& what,
                                   const std::string& plural) const {
    const auto found = std::find(known.begin(), known.end(), text());
    if (found == known.end()) {
        refuse("no " + what + " '" + printable(text()) + "'; known " + plural + ": " + list_names(known));
    }
    return static_cast<uint32_t>(found - known.begin());
}

}  // namespace halcyon::yaml
