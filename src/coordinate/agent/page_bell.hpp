#pragma once

#include <atomic>
#include <thread>

#include "base/descriptor.hpp"
#include "coordinate/page/agent_bell.hpp"

namespace halcyon::coordinate {

/// Makes the bell of a page readable for an event loop: a thread sleeps on it and writes an eventfd.
///
/// The loop arms it before it looks at the page for the last time, and disarms it when it is awake. Between the two the
/// thread sleeps on the bell's word; else on `armed_`, which counts. Where the system has no thread for it, nothing
/// tells of the bell.
class page_bell {
  public:
    page_bell(agent_bell& bell, int ready) : bell_(bell), ready_(ready) {}
    ~page_bell();
    page_bell(const page_bell&) = delete;
    page_bell& operator=(const page_bell&) = delete;

    /// Starts the thread unless it runs. False: the system has none at present.
    [[nodiscard]] bool start();
    void arm();
    void disarm() { bell_.cancel(); }

  private:
    void run();

    agent_bell& bell_;
    int ready_;
    std::atomic<uint32_t> armed_{0};
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

}  // namespace halcyon::coordinate
