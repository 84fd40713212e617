/** What calls were made of: shares per function, one call's parts, calls in progress over time. */

import { chart, drawCharts, forgetCharts } from "../chart";
import type { Concurrency } from "../data";
import { h, nothing, pathCell } from "../dom";
import { functionShares } from "../options/bars";
import { concurrencyChart, durationChart, durationHeight } from "../options/time_series";
import { table } from "../table";
import { levelName } from "../theme";
import { functionOf, laneOf, type Calls } from "../timeline/calls";
import { movedBytes, pathOf, processName } from "../timeline/describe";
import { ABSENT, count, plural, seconds, size } from "../units";
import { whoOf } from "../who";
import { hasCalls, type Context, type View } from "./context";
import { partsOf } from "./parts";

const LONGEST = 200;

export function callsView(context: Context): View {
    const { document: d } = context;
    const place = h("div", { "aria-live": "polite" });
    let chosen: number | null = null;
    const select = (call: number) => {
        chosen = call;
        context.changed();
        forgetCharts(place);
        place.replaceChildren(partsOf(context, call));
        drawCharts(place);
    };
    const element = h(
        "div",
        {},
        h("h2", {}, "Where the time of MPI-IO and HDF5 calls went"),
        d.functions.length
            ? chart({
                  title: "Share of each function's time, by what it waited for",
                  note: "What is left without the calls below it is its own time: communication, and waiting for other ranks.",
                  height: 90 + 34 * d.functions.length,
                  option: (theme) => functionShares(theme, d.functions),
              })
            : nothing(
                  d.run.counters_only
                      ? "The source kept no single calls: nothing to take apart."
                      : "No MPI-IO in this run, and no HDF5: nothing to take apart.",
              ),
        d.parts.length ? partTable(context) : null,
        h("h2", {}, "One call and its parts"),
        context.calls && hasCalls(context)
            ? chooser(context.calls, context, select)
            : nothing("The calls themselves are not in this page."),
        place,
        h("h2", {}, "Calls at once"),
        d.concurrency && d.concurrency.series.length
            ? atOnce(d.concurrency)
            : nothing("No calls with times in this run."),
        h("h2", {}, "How long calls took"),
        d.durations.length
            ? chart({
                  title: "Share of each function's calls that took at most so long",
                  height: (width) => durationHeight(d.durations, width),
                  option: (theme, width) => durationChart(theme, d.durations, width),
              })
            : nothing("No calls with times in this run."),
    );
    return {
        element,
        enter: ({ call }) => {
            if (call === undefined || call === chosen || !context.calls || call >= context.calls.start.length) return;
            select(call);
            place.scrollIntoView({ block: "start" });
        },
        state: () => (chosen === null ? {} : { call: chosen }),
    };
}

/** Calls in progress over time, of all levels or of one. */
function atOnce(concurrency: Concurrency): HTMLElement {
    const levels = [...new Set(concurrency.series.map(({ level }) => level))];
    const place = h("div");
    const draw = (level: string | null) => {
        forgetCharts(place);
        place.replaceChildren(
            chart({
                title: `Calls in progress over the run${level ? `, ${levelName(level)}` : ""}: mean of each interval`,
                hint: "Ctrl + wheel: zoom; drag: move.",
                height: 300,
                option: (theme) => concurrencyChart(theme, concurrency, level),
            }),
        );
        drawCharts(place);
    };
    const change = (event: Event) => draw((event.target as HTMLSelectElement).value || null);
    draw(null);
    return h(
        "div",
        {},
        h(
            "label",
            { class: "field" },
            "Level ",
            h(
                "select",
                { onchange: change },
                h("option", { value: "" }, "all"),
                ...levels.map((level) => h("option", { value: level }, levelName(level))),
            ),
        ),
        place,
    );
}

/**
 * The functions that others can lie below: all but those of the lowest level that the application calls, of what a log
 * does below that, and MPI's start and end.
 */
export function upperFunctions(calls: Calls): number[] {
    const { levels, functions } = calls.timeline;
    const lowest = levels.filter((level) => level !== "log").at(-1);
    return functions.flatMap(({ level, setup }, index) =>
        setup || level === lowest || level === "stdio" || level === "log" ? [] : [index],
    );
}

/** The longest calls of the given functions, the longest first. */
export function longestCalls(calls: Calls, functions: ReadonlySet<number>, most: number): number[] {
    const found: number[] = [];
    for (let call = 0; call < calls.start.length; call++) if (functions.has(calls.function[call]!)) found.push(call);
    return found.sort((a, b) => calls.duration[b]! - calls.duration[a]!).slice(0, most);
}

function chooser(calls: Calls, context: Context, select: (call: number) => void): HTMLElement {
    const upper = upperFunctions(calls);
    if (!upper.length)
        return nothing("No MPI-IO and no HDF5 calls in this run: the application called the lowest level itself.");
    const list = h("div");
    const fill = (chosen: number[]) =>
        list.replaceChildren(callTable(calls, context, longestCalls(calls, new Set(chosen), LONGEST), select));
    const change = (event: Event) => {
        const value = (event.target as HTMLSelectElement).value;
        fill(value === "all" ? upper : [Number(value)]);
    };
    fill(upper);
    return h(
        "div",
        {},
        h(
            "label",
            { class: "field" },
            "Function ",
            h(
                "select",
                { onchange: change },
                h("option", { value: "all" }, "all"),
                ...upper.map((index) =>
                    h(
                        "option",
                        { value: index },
                        `${calls.timeline.functions[index]!.call} (${levelName(calls.timeline.functions[index]!.level)})`,
                    ),
                ),
            ),
        ),
        list,
    );
}

function callTable(calls: Calls, context: Context, rows: number[], select: (call: number) => void): HTMLElement {
    const levels = calls.timeline.levels.length;
    const row = (call: number) => Math.floor(laneOf(calls, call) / levels);
    return table({
        caption: "Longest calls: choose one to see its parts",
        rows,
        columns: [
            { key: "name", title: "Function", value: (call) => functionOf(calls, call).call },
            { key: "where", title: "Where", value: (call) => processName(calls, row(call)) },
            {
                key: "start",
                title: "Began at",
                value: (call) => calls.start[call]!,
                show: (call) => seconds(calls.start[call]! / 1e9),
            },
            {
                key: "duration",
                title: "Took",
                value: (call) => calls.duration[call]!,
                show: (call) => seconds(calls.duration[call]! / 1e9),
            },
            {
                key: "bytes",
                title: "Bytes",
                value: (call) => movedBytes(calls, call),
                show: (call) => size(movedBytes(calls, call)),
            },
            {
                key: "file",
                title: "File",
                value: (call) => pathOf(context.document.files, calls.file[call]!),
                show: (call) => pathCell(pathOf(context.document.files, calls.file[call]!) ?? ABSENT),
            },
        ],
        sorting: { key: "duration", descending: true },
        text: (call) =>
            `${functionOf(calls, call).call} ${processName(calls, row(call))} ${pathOf(context.document.files, calls.file[call]!) ?? ""}`,
        filterLabel: `Filter by function, ${whoOf(context.document).one}, file`,
        select,
        empty: "No call of this function is in the page.",
    });
}

function partTable(context: Context): HTMLElement {
    return h(
        "details",
        { open: true },
        h("summary", {}, `What each function called: ${plural(context.document.parts.length, "pair")}`),
        table({
            caption: "Calls below functions",
            rows: context.document.parts,
            columns: [
                { key: "function", title: "Function", value: (p) => p.function },
                { key: "part", title: "called", value: (p) => p.part },
                { key: "level", title: "Level", value: (p) => levelName(p.part_level) },
                { key: "kind", title: "Kind", value: (p) => p.kind },
                { key: "calls", title: "Calls", value: (p) => p.calls, show: (p) => count(p.calls) },
                {
                    key: "bytes",
                    title: "Bytes",
                    value: (p) => p.bytes,
                    show: (p) => (p.bytes ? size(p.bytes) : ABSENT),
                },
                { key: "seconds", title: "Time", value: (p) => p.seconds, show: (p) => seconds(p.seconds) },
                {
                    key: "mean",
                    title: "Mean",
                    value: (p) => p.seconds / p.calls,
                    show: (p) => seconds(p.seconds / p.calls),
                },
            ],
            sorting: { key: "seconds", descending: true },
            empty: "",
        }),
    );
}
