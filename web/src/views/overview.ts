/** The run in one view: what is missing, what it was, how fast it was, where time went, what is wrong. */

import { chart } from "../chart";
import type { Absence, Activity, Bandwidth, Run } from "../data";
import { h, nothing, prose } from "../dom";
import { timeByLevel } from "../options/bars";
import { activityChart } from "../options/time_series";
import { formatRoute } from "../route";
import { table } from "../table";
import { levelName } from "../theme";
import { ABSENT, count, percent, plural, rate, seconds, size } from "../units";
import type { Context, View } from "./context";
import { byWeight, findingCard, noFindings } from "./findings";

const TOP = 3;
const UNSEEN = "The source counted no reads and writes: nothing is known of them.";

export function overviewView(context: Context): View {
    const { document: d } = context;
    const top = byWeight(d.findings).slice(0, TOP);
    const element = h(
        "div",
        {},
        d.run.ended_badly ? h("p", { class: "failed" }, d.run.ended_badly) : null,
        // Of a source that kept no calls, nobody knows which calls it missed.
        d.absences.length || !d.run.counters_only ? absences(d.absences) : null,
        runFacts(d.run),
        h("h2", {}, "Bandwidth"),
        bandwidths(
            d.bandwidths.filter(({ file, kind }) => file === null && kind !== "all"),
            d.run.counters_only,
        ),
        d.activity ? activity(d.activity) : null,
        h("h2", {}, "Time in calls"),
        d.times.length
            ? chart({
                  title: "Time by level and kind",
                  note:
                      "A call's time includes the calls that it made at the levels below." +
                      (d.run.counters_only ? " As counted by the source." : ""),
                  height: 86 + 44 * new Set(d.times.map(({ level }) => level)).size,
                  option: (theme) => timeByLevel(theme, d.times),
              })
            : nothing(d.run.counters_only ? UNSEEN : "No calls were recorded in this run."),
        d.times.length ? timeTable(context) : null,
        h("h2", {}, "Findings"),
        top.length
            ? h("ol", { class: "findings" }, ...top.map((finding) => h("li", {}, findingCard(context, finding))))
            : noFindings(context),
        d.findings.length > TOP
            ? h("p", {}, h("a", { href: formatRoute({ tab: "findings" }) }, `All ${d.findings.length} findings`))
            : null,
        d.facts.length ? facts(context) : null,
    );
    return { element };
}

const WHAT = { "not-seen": "not seen", lost: "lost", partial: "cut short" } as const;

function absences(list: readonly Absence[]): HTMLElement {
    if (!list.length) return h("p", { class: "whole" }, "Nothing was lost, cut short or out of sight.");
    return h(
        "section",
        { class: "absences", "aria-label": "What is missing" },
        h("h2", {}, "What is missing"),
        h(
            "ul",
            {},
            ...list.map(({ what, subject, count: n, processes, detail }) =>
                h(
                    "li",
                    { class: what },
                    h("strong", {}, `${WHAT[what] ?? what}: ${n === null ? "" : `${count(n)} × `}${subject}`),
                    processes === null ? null : ` in ${plural(processes, "process", "processes")}`,
                    detail ? h("span", { class: "detail" }, prose(detail)) : null,
                ),
            ),
        ),
    );
}

function runFacts(run: Run): HTMLElement {
    const began =
        run.start_epoch_s === null
            ? null
            : new Date(run.start_epoch_s * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";
    const lines: [string, string | null][] = [
        ["command", run.command],
        ["began", began],
        ["took", run.duration_s === null ? null : seconds(run.duration_s)],
        ["ranks", run.ranks === null ? "no MPI" : count(run.ranks)],
        [
            "processes",
            run.hosts === null ? count(run.processes) : `${count(run.processes)} on ${plural(run.hosts, "node")}`,
        ],
        [
            "calls",
            count(run.calls) +
                (run.setup_calls ? `; ${count(run.setup_calls)} more of MPI's start and end are left out` : ""),
        ],
        ["files", count(run.files)],
        ["file systems", run.filesystems.join(", ") || null],
        ["user", run.user],
        ["job", run.job],
        ["recorded by", run.source],
    ];
    return h(
        "section",
        {},
        h("h2", {}, "The run"),
        h(
            "dl",
            { class: "facts run" },
            ...lines
                .filter(([, value]) => value !== null)
                .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
        ),
    );
}

function bandwidths(list: readonly Bandwidth[], countersOnly: boolean): HTMLElement {
    const moved = list.filter(({ bytes }) => bytes > 0);
    if (!moved.length)
        return nothing(countersOnly && !list.length ? UNSEEN : "No bytes were read or written in this run.");
    const withMpi = moved.some((b) => b.effective_mpi !== null || b.perceived_mpi !== null);
    return h(
        "div",
        {},
        h("div", { class: "cards" }, ...moved.map(bandwidthCard)),
        withMpi ? null : h("p", { class: "note" }, "No MPI-IO in this run: these are figures of POSIX calls alone."),
    );
}

function bandwidthCard(b: Bandwidth): HTMLElement {
    const { perceived_posix_low: low, perceived_posix_high: high } = b;
    const lines: [string, string | null, string][] = [
        ["MPI-IO, perceived", known(b.perceived_mpi), "bytes over the time in which any process was in such a call"],
        ["MPI-IO, effective", known(b.effective_mpi), "bytes over the summed time of the calls: of one process"],
        ["POSIX, perceived", known(b.perceived_posix), "bytes over the time in which any process transferred"],
        [
            b.bounds_from === "MPI-IO" ? "… as MPI-IO bounds it" : "… bounded by its calls' times",
            b.bounds_from === null ? null : `${rate(low)} to ${rate(high)}`,
            b.bounds_from === "MPI-IO"
                ? "from what MPI-IO delivered to all processes at once"
                : "from the first to the last transfer, to all processes transferring at once",
        ],
        b.posix_cut
            ? ["POSIX, effective", ABSENT, "the source cut the POSIX records short"]
            : ["POSIX, effective", known(b.effective_posix), "bytes over the summed time of the calls: of one process"],
    ];
    return h(
        "article",
        { class: `card ${b.kind}` },
        h("h3", {}, `${b.kind}: ${size(b.bytes)}`),
        h("dl", {}, ...lines.map(([name, value, meaning]) => (value === null ? null : figure(name, value, meaning)))),
    );
}

function known(value: number | null): string | null {
    return value === null ? null : rate(value);
}

function figure(name: string, value: string, meaning: string): HTMLElement {
    return h("div", {}, h("dt", {}, name, h("small", {}, meaning)), h("dd", {}, value));
}

function activity(source: Activity): HTMLElement {
    const counted = `Counted by ${source.module ?? "the source"} in intervals; each one's bytes are spread evenly over it.`;
    return chart({
        title: "Bytes that all processes moved, over the run",
        note: source.counted ? counted : "A transfer counts when it began.",
        hint: "Ctrl + wheel: zoom; drag: move.",
        height: 230,
        option: (theme) => activityChart(theme, source),
    });
}

function timeTable(context: Context): HTMLElement {
    const { times } = context.document;
    const total = new Map<string, number>();
    for (const { level, seconds: s } of times) total.set(level, (total.get(level) ?? 0) + s);
    return h(
        "details",
        {},
        h("summary", {}, "As a table"),
        table({
            caption: "Time by level and kind",
            rows: times,
            columns: [
                { key: "level", title: "Level", value: (t) => levelName(t.level) },
                { key: "kind", title: "Kind", value: (t) => t.kind },
                { key: "calls", title: "Calls", value: (t) => t.calls, show: (t) => count(t.calls) },
                {
                    key: "bytes",
                    title: "Bytes",
                    value: (t) => t.bytes,
                    show: (t) => (t.bytes ? size(t.bytes) : ABSENT),
                },
                { key: "seconds", title: "Time", value: (t) => t.seconds, show: (t) => seconds(t.seconds) },
                {
                    key: "own",
                    title: "Own time",
                    hint: "without the calls that these made",
                    value: (t) => t.self_s,
                    show: (t) => seconds(t.self_s),
                },
                {
                    key: "waited",
                    title: "Held back",
                    hint: "before the calls, for their turn",
                    value: (t) => t.waited_s,
                    show: (t) => seconds(t.waited_s),
                },
                { key: "errors", title: "Failed", value: (t) => t.errors, show: (t) => count(t.errors) },
                {
                    key: "share",
                    title: "Of its level",
                    value: (t) => t.seconds,
                    show: (t) => percent(t.seconds / (total.get(t.level) || 1)),
                },
            ],
            sorting: { key: "seconds", descending: true },
            empty: "",
        }),
    );
}

function facts(context: Context): HTMLElement {
    return h(
        "details",
        {},
        h("summary", {}, `${plural(context.document.facts.length, "fact")} of the run: versions, hints, environment`),
        table({
            caption: "Facts",
            rows: context.document.facts,
            columns: [
                { key: "key", title: "What", value: (fact) => fact.key },
                { key: "value", title: "Value", value: (fact) => fact.value },
            ],
            sorting: { key: "key", descending: false },
            text: (fact) => `${fact.key} ${fact.value}`,
            filterLabel: "Filter facts",
            empty: "",
        }),
    );
}
