#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "offload/model/model.hpp"

namespace halcyon::offload {

/// The configuration that uses every key once.
inline std::string full_configuration() {
    std::ifstream file(HALCYON_FULL_CONFIGURATION);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The two lines that every configuration begins with; what follows begins on line 3.
inline std::string with_head(const std::string& rest) {
    return "halcyon: 1\nsimulation: cloud\n" + rest;
}

/// The model of a configuration that must be right.
inline model read(const std::string& text, const std::map<std::string, double>& overrides = {}) {
    return parse_model(text, "cloud.yaml", overrides).value();
}

/// The message about a configuration that must be wrong.
inline std::string refusal(const std::string& text) {
    const auto parsed = parse_model(text, "cloud.yaml", {});
    if (parsed.ok()) return "accepted";
    EXPECT_EQ(parsed.why().kind, error_kind::config) << parsed.why().message;
    return parsed.why().message;
}

}  // namespace halcyon::offload
