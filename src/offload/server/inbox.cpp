#include "offload/server/inbox.hpp"

#include <utility>

namespace halcyon::offload {

void inbox::tell(std::function<void()> news) {
    {
        const std::lock_guard lock(mutex_);
        news_.push_back(std::move(news));
    }
    filled_.store(true, std::memory_order_release);
    bell_.ring();
}

bool inbox::read() {
    if (!filled_.exchange(false, std::memory_order_acq_rel)) return false;
    std::vector<std::function<void()>> news;
    {
        const std::lock_guard lock(mutex_);
        news.swap(news_);
    }
    for (const auto& n : news) n();
    return !news.empty();
}

}  // namespace halcyon::offload
