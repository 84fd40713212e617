#include "offload/client/steered_parameters.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace halcyon::offload {

steered_parameters::steered_parameters(const model& data, const segment* shared, session_calls calls)
    : model_(data), segment_(shared), calls_(std::move(calls)), ids_(data.steerable()), taken_(ids_.size()) {}

void steered_parameters::copy_values(std::span<double> to) const {
    for (size_t i = 0; i < ids_.size(); ++i) to[i] = model_.parameters[ids_[i]].value;
}

result<void> steered_parameters::set_values(std::span<const double> values) {
    result<void> outcome;
    for (size_t i = 0; i < ids_.size(); ++i) {
        const parameter& p = model_.parameters[ids_[i]];
        if (p.value == values[i]) continue;
        if (auto set = calls_.set(p.name, values[i]); !set) outcome = set;
    }
    return outcome;
}

result<void> steered_parameters::take_requests(int64_t iteration) {
    if (segment_ == nullptr) return {};
    result<void> outcome;
    const auto& mailbox = segment_->steering().mail;
    if (mailbox.version() != mail_version_) {
        // Where it is written over and over meanwhile, the next iteration takes it.
        if (const auto mail = mailbox.read()) {
            mail_version_ = mail->version;
            for (size_t i = 0; i < ids_.size(); ++i)
                if (auto done = take(i, mail->value.latest[i], iteration); !done) outcome = done;
            last_.taken = mail->value.requests;
            published_ = false;
        }
    }
    publish(iteration);
    return outcome;
}

/// The contents of shared memory are not trusted: a value is set as any call of the simulation would set it.
result<void> steered_parameters::take(size_t number, const steering_request& request, int64_t iteration) {
    if (request.number <= taken_[number]) return {};
    taken_[number] = request.number;
    const uint32_t id = ids_[number];
    const std::string& name = model_.parameters[id].name;
    if (auto set = calls_.set(name, request.value); !set) {
        calls_.log("request " + std::to_string(request.number) + " is left out: " + set.why().message);
        return {};
    }
    event_record e{};
    e.kind = event_kind::steered;
    e.index = id;
    e.iteration = iteration;
    e.sequence = request.number;
    e.value[0] = std::bit_cast<int64_t>(request.value);
    e.value[1] = request.asked_ns;
    e.value[2] = request.process;
    e.value[3] = request.user;
    return calls_.tell(e);
}

void steered_parameters::publish(int64_t iteration) {
    steering_values now = last_;
    copy_values(now.values);
    if (published_ && now.values == last_.values) return;
    now.since = iteration;
    segment_->steering().values.write(now);
    last_ = now;
    published_ = true;
}

}  // namespace halcyon::offload
