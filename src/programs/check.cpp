// halcyon-check FILE [RANKS [RANKS_PER_NODE]] [NAME=VALUE …]: `halcyon check FILE [--ranks RANKS]
// [--ranks-per-node RANKS_PER_NODE] [--set NAME=VALUE …]` for installations without Python, in the same words.

#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "offload/check/configuration_check.hpp"

namespace {

/// A number of 1 or more; 0 when `given` is none.
int count_of(std::string_view given) {
    int n = 0;
    const auto [end, problem] = std::from_chars(given.data(), given.data() + given.size(), n);
    return problem == std::errc{} && end == given.data() + given.size() && n > 0 ? n : 0;
}

/// NAME=VALUE; false when the value is no number.
bool set_parameter(std::string_view given, halcyon::offload::intended_run& run) {
    const size_t equals = given.find('=');
    const std::string_view value = given.substr(equals + 1);
    double number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc{} || end != value.data() + value.size()) return false;
    run.parameters[std::string(given.substr(0, equals))] = number;
    return true;
}

}  // namespace

int main(int argc, char** argv) try {
    halcyon::offload::intended_run run;
    std::vector<std::string_view> words;
    bool understood = true;
    for (const std::string_view given : std::span(argv, static_cast<size_t>(argc)).subspan(1)) {
        const bool is_setting = !words.empty() && given.find('=') != std::string_view::npos;
        if (is_setting)
            understood = understood && set_parameter(given, run);
        else
            words.push_back(given);
    }
    understood = understood && !words.empty() && words.size() <= 3;
    if (understood && words.size() > 1) understood = (run.ranks = count_of(words[1])) > 0;
    if (understood && words.size() > 2) understood = (run.ranks_per_node = count_of(words[2])) > 0;
    if (!understood) {
        std::cerr << "usage: halcyon-check FILE [RANKS [RANKS_PER_NODE]] [NAME=VALUE ...]\n";
        return 2;
    }
    const auto found = halcyon::offload::check_configuration(std::string(words[0]), run);
    if (!found) {
        std::cerr << "halcyon: " << found.why().message << "\n";
        return found.why().kind == halcyon::error_kind::usage ? 2 : 1;
    }
    std::cout << found->summary << "\n" << std::flush;
    for (const std::string& warning : found->warnings) std::cerr << "halcyon: warning: " << warning << "\n";
    for (const std::string& refusal : found->refusals) std::cerr << "halcyon: " << refusal << "\n";
    if (!found->refusals.empty()) return 1;
    std::cout << found->verdict << "\n";
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "halcyon: %s\n", e.what());
    return 1;
}
