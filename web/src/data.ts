/**
 * What Python hands to the viewer: the types of python/halcyon/observe/viewer/document.py, and of the tables that
 * python/halcyon/observe/report_tables.py declares for the page, field by field. A test compares names and types.
 *
 * Times are seconds since the run's start, rates bytes per second; null means that the source does not tell.
 */

import type { Predictability } from "./predictability";

export const VERSION = 6;

export interface Document {
    run: Run;
    facts: Fact[];
    absences: Absence[];
    bandwidths: Bandwidth[];
    times: TimeSpent[];
    functions: FunctionShares[];
    parts: Part[];
    durations: Distribution[];
    concurrency: Concurrency | null;
    activity: Activity | null;
    phases: PhaseSketch[];
    stragglers: Straggler[];
    sizes: SizeBin[];
    files: File[];
    servers: Servers | null;
    findings: Finding[];
    predictability: Predictability | null;
    timeline: Timeline | null;
    experiment: Experiment | null;
    version: number;
}

export interface Run {
    title: string;
    source: string;
    command: string | null;
    user: string | null;
    job: string | null;
    start_epoch_s: number | null;
    duration_s: number | null;
    ranks: number | null;
    processes: number;
    hosts: number | null;
    files: number;
    /** Without `setup_calls`. */
    calls: number | null;
    filesystems: string[];
    /** Of MPI's start and end: only the timeline has them. */
    setup_calls: number | null;
    /** How the command ended, in a sentence; null when it ended well, or nobody knows. */
    ended_badly: string | null;
    /** The source kept no calls: all tables are of what it counted itself. */
    counters_only: boolean;
}

export interface Fact {
    key: string;
    value: string;
}

/** Something the data set does not hold. */
export interface Absence {
    what: "not-seen" | "lost" | "partial";
    subject: string;
    count: number | null;
    processes: number | null;
    detail: string | null;
}

export interface Bandwidth {
    file: number | null;
    kind: string;
    bytes: number;
    perceived_mpi: number | null;
    effective_mpi: number | null;
    effective_posix: number | null;
    perceived_posix: number | null;
    perceived_posix_low: number | null;
    perceived_posix_high: number | null;
    /** Of what the two are. */
    bounds_from: string | null;
    /** The source had no room for all POSIX transfers: their rates are not known. */
    posix_cut: boolean;
}

export interface TimeSpent {
    level: string;
    kind: string;
    calls: number;
    errors: number | null;
    bytes: number;
    seconds: number;
    self_s: number | null;
    waited_s: number | null;
}

/** Where the time of one function went; the parts add up to `seconds`. */
export interface FunctionShares {
    level: string;
    function: string;
    /** null: all ranks together. */
    rank: number | null;
    calls: number;
    seconds: number;
    lock_s: number;
    read_s: number;
    write_s: number;
    unlock_s: number;
    other_s: number;
    communicate_s: number;
}

export interface Part {
    level: string;
    function: string;
    part_level: string;
    part: string;
    kind: string;
    calls: number;
    bytes: number;
    seconds: number;
    /** How many of it one call of `function` makes, on average. */
    per_call: number;
}

export interface ConcurrencySeries {
    level: string;
    kind: string;
    mean: number[];
    most: number;
}

export interface Concurrency {
    bin_s: number;
    series: ConcurrencySeries[];
}

export interface ActivitySeries {
    kind: string;
    bytes: number[];
}

/** Bytes moved over time by all processes; `counted`: by the source, whose `module` it is; else from the calls. */
export interface Activity {
    bin_s: number;
    counted: boolean;
    module: string | null;
    series: ActivitySeries[];
}

/** `seconds[i]` is the I/O time of `ranks[i]` within the phase; `kind`: of writes, of reads, or of all calls. */
export interface PhaseSketch {
    number: number;
    kind: string;
    start_s: number;
    end_s: number;
    bytes: number;
    throughput: number | null;
    /** Of many ranks, `ranks` and `seconds` hold only some: spread evenly over their order by time, and the slowest. */
    rank_count: number;
    ranks: number[];
    seconds: number[];
    median_s: number;
    variation: number | null;
    max_over_median: number | null;
}

export interface Straggler {
    kind: string;
    rank: number;
    host: string | null;
    phases: number;
    slow_phases: number;
    factor: number;
    bytes_factor: number | null;
    seconds_lost: number;
    /** In its slow phases, in sum. */
    slow_s: number;
    /** Numbers of phases: the first and last in which it is slow, and the one that lost the most. */
    first_slow: number;
    last_slow: number;
    slowest: number;
}

export interface SizeBin {
    level: string;
    kind: string;
    lower: number;
    upper: number;
    calls: number;
    bytes: number | null;
}

export interface File {
    file: number;
    path: string;
    filesystem: string | null;
    block_bytes: number | null;
    stripe_bytes: number | null;
    servers: string[];
    opens: number;
    stats: number;
    syncs: number;
    reads: number;
    writes: number;
    bytes_read: number;
    bytes_written: number;
    seconds: number;
    consecutive: number | null;
    strided: number | null;
    forward: number | null;
    backward: number | null;
    restarts: number | null;
    random: number | null;
    small: number | null;
    unaligned: number | null;
    crossing: number | null;
    high: number | null;
    name: string;
    /** What most of its reads and writes did, and which share of them; null: not known. */
    pattern: string | null;
    pattern_share: number | null;
    rank_count: number;
    ranks: string;
}

/** `read` and `written`: bytes per bin of `Servers.bin_s`, from second 0. */
export interface Server {
    name: string;
    files: number;
    read: number[];
    written: number[];
    /** Transfers that touched no other server. */
    alone_calls: number;
    alone_bytes: number;
    alone_s: number;
    bandwidth_per_call: number | null;
    bytes: number;
    bytes_read: number;
    bytes_written: number;
}

/** `counted`: without calls, bytes are spread evenly over servers and over the run, which is the one bin. */
export interface Servers {
    bin_s: number;
    counted: boolean;
    imbalance: number | null;
    servers: Server[];
    unknown_bytes: number;
}

/** Cumulated: `share[i]` of the values are at most `seconds[i]`. */
export interface Distribution {
    name: string;
    seconds: number[];
    share: number[];
}

export interface Evidence {
    /** For machines; its end says the unit. */
    key: string;
    what: string;
    value: number;
    /** The value as people read it. */
    text: string;
}

/** A stretch of the run; `file`: of which file its calls are, null: of several, or of none. */
export interface Span {
    start_s: number;
    end_s: number;
    file: number | null;
}

export interface Finding {
    key: string;
    title: string;
    severity: "high" | "medium" | "low";
    explanation: string;
    change: string;
    seconds_lost: number | null;
    estimate: string;
    calls: number | null;
    bytes: number | null;
    evidence: Evidence[];
    files: number[];
    ranks: number[];
    /** From the first to the last call that it concerns. */
    when: Span | null;
    /** Where to look first. */
    worst: Span | null;
}

export interface TimelineProcess {
    process: number;
    rank: number | null;
    host: string | null;
}

export interface TimelineFunction {
    call: string;
    level: string;
    kind: string;
    /** MPI's start or end. */
    setup: boolean;
}

export interface Column {
    name: string;
    type: "u8" | "u16" | "u32" | "i32" | "i64";
    delta: boolean;
    length: number;
}

/**
 * The calls of all processes; the columns are binary (columns.ts).
 *
 * A lane holds the calls of one process at one level, by their start: lane = row of `processes` × number of `levels` +
 * index in `levels`. Columns `call_*` hold single calls, lane l those from call_lane[l] to call_lane[l + 1]. Of too many
 * calls, those shorter than `shorter_than_s` are summed up: columns `cell_*` have one entry per lane and time bin of
 * `bin_s` that is not empty; `cell_kind` is an index into `kinds`.
 */
export interface Timeline {
    duration_s: number;
    processes: TimelineProcess[];
    levels: string[];
    kinds: string[];
    functions: TimelineFunction[];
    calls: number;
    summed_calls: number;
    without_times: number;
    shorter_than_s: number | null;
    bin_s: number | null;
    /** By index, of files that calls of level log alone name: they are not among Document.files. */
    log_paths: Record<string, string>;
    columns: Column[];
}

/** Something that looks like a run and could not be read. */
export interface Unread {
    name: string;
    why: string;
}

/** One of several runs that are compared: what it was given (Experiment.parameters), and its write phases. */
export interface ExperimentRun {
    name: string;
    user: string | null;
    program: string | null;
    start_epoch_s: number | null;
    duration_s: number;
    ranks: number;
    bytes_written: number;
    bytes_read: number;
    io_share: number | null;
    write_throughput: number | null;
    parameters: Record<string, string>;
    phases: PhaseSketch[];
}

/** Several runs, and the parameters in which they differ; `row` and `column` are those that the grid begins with. */
export interface Experiment {
    parameters: string[];
    row: string | null;
    column: string | null;
    runs: ExperimentRun[];
    unread: Unread[];
}
