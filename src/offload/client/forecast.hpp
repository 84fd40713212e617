#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "halcyon/halcyon.h"

namespace halcyon::offload {

/// What halcyon_forecast and halcyon_forecast_window say: asked of libhalcyon-io, where that is loaded and learns.
result<void> forecast_next(int64_t count, halcyon_forecast_t& into);
result<void> forecast_window(double seconds, halcyon_forecast_t& into);

}  // namespace halcyon::offload
