#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/yaml/document.hpp"

namespace halcyon::yaml {

/// `file:line: key.path: message`, without the path where it is empty (the document itself).
[[nodiscard]] failure failure_at(std::string_view file_name, int line, std::string_view path, std::string_view message);

/// The path of a value in a map: `data.layouts`, or only the key at the top.
[[nodiscard]] std::string path_of(std::string_view map_path, std::string_view key);
/// The path of an item in a list: `data.layouts.grid.dimensions[2]`.
[[nodiscard]] std::string path_of(std::string_view list_path, size_t index);

/// A JSON Schema (draft 4) that a document must satisfy. Besides the standard keywords a schema may say
/// `x-expected`, what a value should be in words ("a size such as 256 MiB"), and for an enum `x-synonyms`, a map from
/// words of other languages to the value meant.
class schema {
  public:
    /// Failure (kind internal): not JSON, or not an object.
    static result<schema> from_json(std::string_view json);

    /// Failure (kind config): the first place where the document breaks the schema, as `file:line: key.path: …` with
    /// the value seen, the values expected, the known keys and the closest of them.
    [[nodiscard]] result<void> check(const node& document, std::string_view file_name) const;

  private:
    struct compiled;
    explicit schema(std::shared_ptr<const compiled> inside) : inside_(std::move(inside)) {}
    std::shared_ptr<const compiled> inside_;
};

}  // namespace halcyon::yaml
