/** What Python hands to the viewer of forecasts: as in data.ts, the types of python/halcyon/observe/viewer/document.py. */

/** Of one predictor over some calls; shares are from 0 to 1; null: nothing to score, or it says nothing of it. */
export interface Accuracy {
    context: number | null;
    offset: number | null;
    hit: number | null;
    transfer_hit: number | null;
    size_exact: number | null;
    /** Median, a share of the observed size. */
    size_error: number | null;
    file: number | null;
    /** Mean, without its sign. */
    gap_difference_s: number | null;
}

/** Some of the calls of a thread; `by`: the predictors' names. */
export interface Stretch {
    calls: number;
    by: Record<string, Accuracy>;
}

/** What the model had become in the end. */
export interface Model {
    grammar_runs: number;
    grammar_rules: number;
    symbols: number;
    transitions: number;
    memory_bytes: number;
    memory_peak_bytes: number;
    unlearned: number;
    phases: number;
    pause_s: number;
    next_phase_s: number | null;
    next_phase_deviation_s: number | null;
    next_phase_confidence: number;
    next_phase_earliest_s: number | null;
    next_phase_latest_s: number | null;
}

/** How predictable a sequence is, `given` something: bits left, and the share that the best forecast in hindsight gets. */
export interface Bound {
    given: string;
    calls: number;
    entropy_bits: number;
    best: number;
}

/** `x`: numbers of calls, from 1. */
export interface Curve {
    name: string;
    x: number[];
    y: number[];
}

/** Interarrival times of the last calls, in seconds, and what was expected. */
export interface Arrivals {
    x: number[];
    observed: number[];
    expected: number[];
    last_value: number[];
}

export interface Figures {
    calls: number;
    /** Calls before the second iteration. */
    learnt: number | null;
    context: Curve[];
    grammar: Curve[];
    size_error: Curve[];
    hit: Curve[];
    arrivals: Arrivals;
}

/** How well the calls of one thread can be forecast. */
export interface Predictability {
    name: string;
    calls: number;
    /** Further calls of the thread, which were not replayed. */
    beyond: number;
    streams: number;
    contexts: string;
    notes: string[];
    whole: Stretch;
    settled: Stretch | null;
    model: Model;
    bounds: Bound[];
    figures: Figures;
}
