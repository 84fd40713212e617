#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "halcyon/error.hpp"
#include "predict/model/file_names.hpp"
#include "predict/model/label_table.hpp"
#include "predict/model/model.hpp"

namespace halcyon::predict {

/// How the models of a process are kept in a file, in version 4. All numbers are little endian, wherever they are
/// written; a text is its length (4 bytes) and its bytes:
///
///     "HALCMODL", version (4), number of models (4), bytes of the file (8), check sum of all bytes that follow it (8),
///     classes of files (4), each: last path (text), of its numbers the steps (6 x 8) and the places behind the
///     point that these count (6 x 1)
///     labels (4), each: subject (1), number (4), text
///     models, each: symbols, transitions, phases, errors of forecasts of the next phase, main grammar, as
///     model::each_field() says; grammars as files of their own (grammar_file.hpp) behind their length (8)
constexpr uint32_t model_file_version = 4;
constexpr std::string_view model_file_magic = "HALCMODL";

/// What a file keeps.
struct process_models {
    const file_names& names;
    const label_table& labels;
    std::span<const model* const> models;  ///< of its threads
};

[[nodiscard]] size_t saved_bytes(const process_models& of);

/// Writes the file into `out`, which has saved_bytes(of). Whoever puts it on a disk does so whole.
[[nodiscard]] bool save(const process_models& of, std::span<unsigned char> out);

/// A file that was read, whose bytes stay where they are. Every byte is taken for possibly wrong. Failures (config)
/// name the file, the offset and what is wrong there; of kind usage: a bound of memory is too small for it.
class model_file {
  public:
    /// Bytes that say whether the rest is worth reading.
    static constexpr size_t header_bytes = 32;
    /// What is wrong with a file that begins so and has `file_bytes`.
    [[nodiscard]] static std::optional<failure> check_header(std::span<const unsigned char> begin, uint64_t file_bytes,
                                                             std::string_view name);
    /// Checks header and check sum.
    [[nodiscard]] static std::optional<failure> open(std::span<const unsigned char> bytes, std::string_view name,
                                                     model_file& opened);
    [[nodiscard]] uint32_t models() const { return models_; }
    /// Reads everything: classes and labels are added to those given, `into` are as many new models of `names` as are
    /// wanted, the first ones of the file. After a failure they are of no use.
    [[nodiscard]] std::optional<failure> load(file_names& names, label_table& labels,
                                              std::span<model* const> into) const;

  private:
    [[nodiscard]] static std::optional<failure> read_header(std::span<const unsigned char> begin, uint64_t file_bytes,
                                                            std::string_view name, model_file& opened, uint64_t& sum);

    std::span<const unsigned char> bytes_;
    std::string_view name_;
    uint32_t models_ = 0;
};

}  // namespace halcyon::predict
