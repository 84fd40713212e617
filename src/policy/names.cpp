#include "policy/decide.hpp"

namespace halcyon::policy {

const char* name_of(reason why) {
    switch (why) {
        case reason::alone:
            return "alone";
        case reason::all_interfere:
            return "all-interfere";
        case reason::first_come:
            return "first-come";
        case reason::newest:
            return "newest";
        case reason::tolerated:
            return "tolerated";
        case reason::delayed:
            return "delayed";
        case reason::least_served:
            return "least-served";
        case reason::slice_goes_on:
            return "slice-goes-on";
        case reason::smiths_rule:
            return "smiths-rule";
        case reason::least_cost:
            return "least-cost";
        case reason::heuristic_cost:
            return "heuristic-cost";
        case reason::search_budget:
            return "search-budget";
        case reason::starving:
            return "starving";
    }
    return "unknown";
}

const char* name_of(rule which) {
    switch (which) {
        case rule::interfere:
            return "interfere";
        case rule::fcfs:
            return "fcfs";
        case rule::interrupt:
            return "interrupt";
        case rule::delay:
            return "delay";
        case rule::fair_share:
            return "fair-share";
        case rule::set_10:
            return "set-10";
        case rule::dynamic:
            return "dynamic";
    }
    return "unknown";
}

const char* name_of(metric of) {
    switch (of) {
        case metric::sum_of_times:
            return "sum-of-times";
        case metric::sum_of_interference_factors:
            return "sum-of-interference-factors";
        case metric::cpu_hours:
            return "cpu-hours";
        case metric::energy:
            return "energy";
    }
    return "unknown";
}

}  // namespace halcyon::policy
