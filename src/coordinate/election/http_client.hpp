#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace halcyon::coordinate {

struct curl_library;

/// Posts JSON by HTTP or HTTPS, through libcurl, which is loaded when it is first asked for: nobody needs it who has no
/// election. One connection is kept between posts. Each call waits; one thread at a time.
class http_client {
  public:
    /// Failure (unavailable): no libcurl.
    static result<http_client> load();
    http_client(http_client&& other) noexcept;
    http_client& operator=(http_client&&) = delete;
    ~http_client();

    /// The answer's body. Failure (unavailable): no connection, no answer within `most_ns`, or a status other than 200,
    /// with the begin of the body. An answer beyond 1 MiB is cut, which counts as no answer.
    result<std::string> post(const std::string& url, const std::string& body, int64_t most_ns);

  private:
    http_client(const curl_library& library, void* handle, void* headers)
        : library_(&library), handle_(handle), headers_(headers) {}

    const curl_library* library_;
    void* handle_;   ///< CURL
    void* headers_;  ///< curl_slist
};

}  // namespace halcyon::coordinate
