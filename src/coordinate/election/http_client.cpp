#include "coordinate/election/http_client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/closest_name.hpp"
#include "base/loaded_library.hpp"

namespace halcyon::coordinate {

/// The functions of libcurl.so.4, as curl.h declares them; its options and codes are ints.
struct curl_library {
    int (*global_init)(long flags);
    void* (*easy_init)();
    void (*easy_cleanup)(void*);
    int (*easy_setopt)(void*, int option, ...);
    int (*easy_perform)(void*);
    int (*easy_getinfo)(void*, int what, ...);
    const char* (*easy_strerror)(int code);
    void* (*slist_append)(void*, const char*);
    void (*slist_free_all)(void*);
};

namespace {

constexpr const char* library_name = "libcurl.so.4";
constexpr long init_all = 3;  // CURL_GLOBAL_ALL
// CURLOPT_… and CURLINFO_… of curl.h, which never change.
constexpr int option_write_data = 10001, option_url = 10002, option_error_buffer = 10010, option_post_fields = 10015,
              option_headers = 10023, option_no_proxy = 10177, option_write_function = 20011, option_post_size = 60,
              option_no_signal = 99, option_timeout_ms = 155, info_response_code = 0x200002;
constexpr size_t error_bytes = 256;  // CURL_ERROR_SIZE
constexpr size_t most_answer = size_t{1} << 20U;

struct loaded {
    curl_library functions{};
    std::string why_not;  ///< empty: loaded
};

loaded load_once() {
    loaded l;
    loaded_library library(library_name);
    library.find("curl_global_init", l.functions.global_init);
    library.find("curl_easy_init", l.functions.easy_init);
    library.find("curl_easy_cleanup", l.functions.easy_cleanup);
    library.find("curl_easy_setopt", l.functions.easy_setopt);
    library.find("curl_easy_perform", l.functions.easy_perform);
    library.find("curl_easy_getinfo", l.functions.easy_getinfo);
    library.find("curl_easy_strerror", l.functions.easy_strerror);
    library.find("curl_slist_append", l.functions.slist_append);
    library.find("curl_slist_free_all", l.functions.slist_free_all);
    l.why_not = library.why_not();
    if (l.why_not.empty() && l.functions.global_init(init_all) != 0) l.why_not = "libcurl does not start";
    return l;
}

/// Fewer bytes than given end the transfer.
size_t keep(char* bytes, size_t one, size_t count, void* into) {
    auto& answer = *static_cast<std::string*>(into);
    if (answer.size() + one * count > most_answer) return 0;
    answer.append(bytes, one * count);
    return one * count;
}

}  // namespace

result<http_client> http_client::load() {
    static const loaded l = load_once();
    if (!l.why_not.empty())
        return failure{error_kind::unavailable, "elections need libcurl, Debian's package libcurl4: " + l.why_not, 0};
    void* const handle = l.functions.easy_init();
    if (handle == nullptr) return failure{error_kind::system, "libcurl: no memory", ENOMEM};
    return http_client(l.functions, handle, l.functions.slist_append(nullptr, "Content-Type: application/json"));
}

http_client::http_client(http_client&& other) noexcept
    : library_(other.library_),
      handle_(std::exchange(other.handle_, nullptr)),
      headers_(std::exchange(other.headers_, nullptr)) {}

http_client::~http_client() {
    if (handle_ != nullptr) library_->easy_cleanup(handle_);
    library_->slist_free_all(headers_);
}

result<std::string> http_client::post(const std::string& url, const std::string& body, int64_t most_ns) {
    std::string answer;
    std::array<char, error_bytes> details{};
    const auto set = [this](int option, auto value) { library_->easy_setopt(handle_, option, value); };
    set(option_url, url.c_str());
    set(option_post_fields, body.c_str());
    set(option_post_size, static_cast<long>(body.size()));
    set(option_headers, headers_);
    set(option_write_function, &keep);
    set(option_write_data, static_cast<void*>(&answer));
    set(option_error_buffer, details.data());
    set(option_timeout_ms, static_cast<long>(std::max<int64_t>(most_ns / 1'000'000, 1)));
    set(option_no_signal, 1L);  // this is a thread of a daemon
    set(option_no_proxy, "*");  // what the user's shell says is for browsers
    const int code = library_->easy_perform(handle_);
    set(option_error_buffer, static_cast<char*>(nullptr));
    if (code != 0)
        return failure{error_kind::unavailable,
                       url + ": " + (details[0] != '\0' ? details.data() : library_->easy_strerror(code)), 0};
    long status = 0;
    library_->easy_getinfo(handle_, info_response_code, &status);
    if (status == 200) return answer;
    return failure{error_kind::unavailable,
                   url + ": HTTP status " + std::to_string(status) + ": " + printable(answer.substr(0, 200)), 0};
}

}  // namespace halcyon::coordinate
