#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

/// Runs of programs under libhalcyon-io with the layer `predict`, and what that says it has learnt.
namespace halcyon::tests {

struct predicted_run {
    int status;
    std::string output;
    std::vector<std::map<std::string, std::string>> processes;  ///< facts; "absence": all of them, one after the other

    /// Of the one process that ended so.
    [[nodiscard]] const std::map<std::string, std::string>& ended(const std::string& how) const {
        for (const auto& facts : processes) {
            if (facts.at("end") == how) return facts;
        }
        throw std::runtime_error("no process ended by " + how + "; output: " + output);
    }
};

/// No time is too long: what is forecast then depends on no clock.
inline constexpr const char* never_late = "HALCYON_PREDICT_LEAST_PAUSE_NS=1000000000000000";

inline predicted_run run_predicted(const std::string& command, const std::string& environment = never_late,
                                   const std::string& layers = "predict") {
    const temporary_folder facts;
    const std::string words = "env " + environment + " HALCYON_LAYERS=" + layers +
                              " HALCYON_TRACE_DIR=" + facts.path().string() + " LD_PRELOAD=" HALCYON_TEST_LIBRARY " " +
                              command + " 2>&1";
    FILE* pipe = popen(words.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + words);
    predicted_run run{};
    std::array<char, 4096> buffer{};
    while (const size_t bytes = fread(buffer.data(), 1, buffer.size(), pipe)) run.output.append(buffer.data(), bytes);
    run.status = pclose(pipe);
    for (const auto& entry : std::filesystem::directory_iterator(facts.path())) {
        if (entry.path().extension() != ".predict") continue;
        auto& facts_of = run.processes.emplace_back();
        std::ifstream lines(entry.path());
        for (std::string line; std::getline(lines, line);) {
            const size_t space = line.find(' ');
            facts_of[line.substr(0, space)] += line.substr(space + 1);
        }
    }
    return run;
}

}  // namespace halcyon::tests
