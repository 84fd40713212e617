#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/yaml/document.hpp"
#include "base/yaml/word_table.hpp"

namespace halcyon::yaml {

/// A value of the configuration and where it stands. The schema has been checked, so a value of the wrong kind is an
/// internal error. Refusals are thrown as halcyon::error with `file:line: key.path: …`.
class config_value {
  public:
    config_value(const yaml::node& node, std::string_view file, std::string path)
        : node_(&node), file_(file), path_(std::move(path)) {}

    [[noreturn]] void refuse(const std::string& message) const;
    /// `file:line: key.path`
    [[nodiscard]] std::string where() const;

    [[nodiscard]] bool is(node_kind kind) const { return node_->kind == kind; }
    [[nodiscard]] std::optional<config_value> find(std::string_view key) const;

    [[nodiscard]] const std::string& text() const { return node_->text; }
    [[nodiscard]] bool boolean() const { return expect(node_kind::boolean).boolean; }
    [[nodiscard]] int64_t integer() const { return expect(node_kind::integer).integer; }
    [[nodiscard]] double number() const { return node_->real; }
    [[nodiscard]] int64_t bytes() const;
    [[nodiscard]] std::chrono::nanoseconds duration() const;

    template <class Enum, size_t N>
    [[nodiscard]] Enum word(const word_table<Enum, N>& table) const {
        if (const auto value = value_of(table, text())) return *value;
        refuse("'" + text() + "' is not known");
    }

    /// Entries of a map in order: key and value. Empty when this is nothing (`stores:` without content).
    [[nodiscard]] std::vector<std::pair<std::string, config_value>> entries() const;
    [[nodiscard]] std::vector<config_value> items() const;

    /// Refuses a key of a map that cannot be a name: empty, '.', '..', with '/' or a control character.
    void check_name(const std::string& what, const std::string& name) const;

    /// Position of the value's text among `known`, or a refusal: `no layout 'x'; known layouts: …`.
    [[nodiscard]] uint32_t index_among(const std::vector<std::string>& known, const std::string& what,
                                       const std::string& plural) const;

  private:
    [[nodiscard]] const node& expect(node_kind kind) const;

    const node* node_;
    std::string_view file_;
    std::string path_;
};

/// The names of a list of things.
template <class Items>
std::vector<std::string> names_of(const Items& items) {
    std::vector<std::string> out;
    out.reserve(std::size(items));
    for (const auto& item : items) out.push_back(item.name);
    return out;
}

}  // namespace halcyon::yaml
