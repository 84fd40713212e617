/** How well the calls of one thread can be forecast, from what they were before. */

import { chart, type ChartSpec } from "../chart";
import type { Accuracy, Bound, Model, Predictability, Stretch } from "../predictability";
import { h, nothing, prose } from "../dom";
import { ERROR, SHARE, SYMBOLS, arrivalDifferences, arrivalTimes, overCalls } from "../options/predictability";
import { sideways } from "../sideways";
import type { Theme } from "../theme";
import { ABSENT, count, number, plural, seconds, share, size } from "../units";
import type { Context, View } from "./context";

const PREDICTORS: [key: string, title: string, hint: string][] = [
    ["halcyon", "Halcyon", "its forecasts weighed by their probabilities"],
    ["halcyon-1/n", "1/n", "n forecasts weighed alike, as in the thesis"],
    ["contiguous", "contiguous", "the same size again, behind the access before"],
    ["immediate", "immediate", "the same access again, at once"],
    ["last-value", "last value", "what came after this call site the last time"],
    ["markov-2", "Markov", "what came most often after the last two call sites"],
];

const MEASURES: [title: string, hint: string, show: (one: Accuracy, immediate: Accuracy) => string][] = [
    ["call site", "the place in the program that the next call comes from", (one) => share(one.context)],
    ["offset", "of reads and writes; in the right file", (one) => share(one.offset)],
    ["hit ratio", "overlap of the bytes forecast with those accessed, of all calls", (one) => share(one.hit)],
    ["hit ratio of reads and writes", "without calls that transfer nothing", (one) => share(one.transfer_hit)],
    ["size, exact", "to the byte", (one) => share(one.size_exact)],
    ["size, median error", "as a share of the observed size", (one) => error(one.size_error)],
    ["file", "the right one, by its path where it is new", (one) => share(one.file)],
    ["interarrival time, mean difference", "observed less expected", (one) => seconds(one.gap_difference_s)],
    ["… beside expecting none", "immediate re-access is 100 %", (one, immediate) => share(ratio(one, immediate))],
];

export function predictabilityView({ document }: Context): View {
    const found = document.predictability;
    if (!found) {
        const why = document.run.counters_only
            ? "No calls were replayed: the source kept none."
            : "No calls were replayed: there are none that open, close, read, write or sync a file.";
        return { element: h("div", {}, h("h2", {}, "Predictability"), nothing(why)) };
    }
    const { whole, settled, model } = found;
    const element = h(
        "div",
        {},
        h("h2", {}, "Predictability"),
        said(found),
        accuracies(`Forecasts of all ${count(whole.calls)} calls, the learning phase included`, whole),
        settled
            ? accuracies(`From the second iteration on: ${plural(settled.calls, "call")}`, settled)
            : nothing("No second iteration was found: no phase begins like one before it."),
        h("div", { class: "pair" }, ...curves(found).map(chart)),
        bounds(found.bounds, settled ?? whole),
        h("h3", {}, "The model in the end"),
        facts(model),
    );
    return { element };
}

function said({ name, streams, contexts, notes, calls, beyond }: Predictability): HTMLElement {
    const others = streams > 1 ? ` \`halcyon predict\` tells of all ${plural(streams, "thread")}.` : "";
    const cut = beyond ? ` These are its first ${count(calls)} calls; ${count(beyond)} more were not replayed.` : "";
    return h(
        "div",
        {},
        h(
            "p",
            { class: "note" },
            prose(
                `The calls of ${name} that reach the file system, handed to Halcyon's predictor one by one: what it ` +
                    `expected before each call, beside what naive predictors would have.${cut}${others} ` +
                    `${sentence(contexts)}`,
            ),
        ),
        ...notes.map((note) => h("p", { class: "note" }, sentence(note))),
    );
}

function sentence(words: string): string {
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function accuracies(caption: string, { by }: Stretch): HTMLElement {
    const immediate = by["immediate"]!;
    return plainTable(
        caption,
        ["", ...PREDICTORS.map(([, title]) => title)],
        ["", ...PREDICTORS.map(([, , hint]) => hint)],
        MEASURES.map(([title, hint, show]) => [
            h("span", { title: hint }, title),
            ...PREDICTORS.map(([key]) => show(by[key]!, immediate)),
        ]),
    );
}

/** A table whose rows keep their order: they are different things. */
function plainTable(
    caption: string,
    heads: readonly string[],
    hints: readonly string[],
    rows: readonly (readonly (HTMLElement | string)[])[],
    words = 1,
): HTMLElement {
    const overflow = h("span", { class: "hint overflow" });
    const kind = (i: number) => (i < words ? false : "number");
    return h(
        "div",
        { class: "table" },
        h("div", { class: "table-head" }, h("h3", {}, caption, " ", overflow)),
        sideways(
            caption,
            h(
                "table",
                { "aria-label": caption },
                h(
                    "thead",
                    {},
                    h(
                        "tr",
                        {},
                        ...heads.map((head, i) =>
                            h("th", { scope: "col", class: `plain ${kind(i) || ""}`, title: hints[i] || false }, head),
                        ),
                    ),
                ),
                h(
                    "tbody",
                    {},
                    ...rows.map((row) => h("tr", {}, ...row.map((cell, i) => h("td", { class: kind(i) }, cell)))),
                ),
            ),
            overflow,
        ),
    );
}

function curves({ figures }: Predictability): ChartSpec[] {
    const last = count(figures.arrivals.x.length);
    const mark = figures.learnt === null ? "" : " Dashed: where the second iteration begins.";
    const calls = (title: string, note: string, option: ChartSpec["option"]): ChartSpec => ({
        title,
        note,
        height: 260,
        option,
    });
    return [
        calls(
            "Call sites forecast",
            `Share of the last ten calls; n forecasts weigh 1/n each.${mark}`,
            (theme: Theme) => overCalls(theme, figures, figures.context, SHARE),
        ),
        calls("Size of the grammar", "Lengths of all its rules; a run of the same symbol is one.", (theme: Theme) =>
            overCalls(theme, figures, figures.grammar, SYMBOLS),
        ),
        calls("Relative error of sizes", "Of reads and writes; cut at 5.", (theme: Theme) =>
            overCalls(theme, figures, figures.size_error, ERROR),
        ),
        calls("Hit ratio", "Mean of the last ten calls.", (theme: Theme) =>
            overCalls(theme, figures, figures.hit, SHARE),
        ),
        {
            ...calls(`Interarrival times of the last ${last} calls`, "0 is drawn as 1 ns.", (theme: Theme) =>
                arrivalTimes(theme, figures.arrivals),
            ),
            renderer: "canvas",
        },
        {
            ...calls(
                `Observed less expected, of the last ${last} calls`,
                "Lower is better; immediate re-access expects 0.",
                (theme: Theme) => arrivalDifferences(theme, figures.arrivals),
            ),
            renderer: "canvas",
        },
    ];
}

function bounds(list: readonly Bound[], stretch: Stretch): HTMLElement | null {
    const own = stretch.by["halcyon"]!;
    const rows = list
        .map((one) => ({ one, ofSites: one.given.startsWith("the last") }))
        .map(({ one, ofSites }) => ({ one, ofSites, reached: ofSites ? own.context : own.size_exact }))
        .filter(({ reached }) => reached !== null && reached < 1);
    if (!rows.length) return null;
    return plainTable(
        "How predictable it is",
        ["what comes next", "given", "bits left", "best in hindsight", "Halcyon"],
        [
            "",
            "",
            "entropy of what comes, when this is known",
            "of whoever knew all along what follows most often; a grammar sees further back, but has to learn first",
            "",
        ],
        rows.map(({ one, ofSites, reached }) => [
            ofSites ? "call site" : "size",
            one.given,
            one.entropy_bits.toFixed(3),
            share(one.best),
            share(reached),
        ]),
        2,
    );
}

function phaseBounds({ next_phase_earliest_s: earliest, next_phase_latest_s: latest }: Model): string {
    return earliest === null || latest === null ? "" : `; 90 % between ${seconds(earliest)} and ${seconds(latest)}`;
}

function facts(model: Model): HTMLElement {
    const next =
        model.next_phase_s === null
            ? null
            : `${seconds(model.next_phase_s)} ± ${seconds(model.next_phase_deviation_s)} after the last call, ` +
              `confidence ${share(model.next_phase_confidence)}${phaseBounds(model)}`;
    const lines: [string, string | null][] = [
        ["grammar", `${plural(model.grammar_runs, "symbol")} in ${plural(model.grammar_rules, "rule")}`],
        ["call sites", count(model.symbols)],
        ["transitions", count(model.transitions)],
        ["memory", `${size(model.memory_bytes)}, at most ${size(model.memory_peak_bytes)}`],
        ["not learnt", model.unlearned ? `${plural(model.unlearned, "call")}: no room in its memory` : null],
        ["phases", `${count(model.phases)}, separated by more than ${seconds(model.pause_s)}`],
        ["next phase", next],
    ];
    return h(
        "dl",
        { class: "facts" },
        ...lines.map(([name, value]) => (value ? h("div", {}, h("dt", {}, name), h("dd", {}, value)) : null)),
    );
}

function ratio(one: Accuracy, immediate: Accuracy): number | null {
    if (one.gap_difference_s === null || !immediate.gap_difference_s) return null;
    return one.gap_difference_s / immediate.gap_difference_s;
}

function error(value: number | null): string {
    if (value === null) return ABSENT;
    return value >= 10 ? `${number(value)} times` : `${Number((value * 100).toPrecision(2))} %`;
}
