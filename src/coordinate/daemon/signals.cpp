#include "coordinate/daemon/signals.hpp"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace halcyon::coordinate {

result<std::unique_ptr<signals>> signals::take(event_loop& loop) {
    for (const int ignored : {SIGPIPE, SIGXFSZ}) static_cast<void>(std::signal(ignored, SIG_IGN));
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int one : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&wanted, one);
    if (const int problem = ::pthread_sigmask(SIG_BLOCK, &wanted, nullptr); problem != 0)
        return system_failure("pthread_sigmask", problem);
    descriptor fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd) return system_failure("signalfd", errno);
    std::unique_ptr<signals> made(new signals(loop, std::move(fd)));
    auto watch = loop.add(made->fd_.get(), EPOLLIN, [one = made.get()](uint32_t) { one->read(); });
    if (!watch) return watch.why();
    made->watch_ = *watch;
    return made;
}

void signals::read() {
    signalfd_siginfo one{};
    while (::read(fd_.get(), &one, sizeof one) == static_cast<ssize_t>(sizeof one)) {
        if (one.ssi_signo == SIGHUP)
            reload_ = true;
        else
            end_ = true;
    }
}

}  // namespace halcyon::coordinate
