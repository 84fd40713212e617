/** Several runs: a grid of pictures over what differs between them, and the runs one by one. */

import { chart, drawCharts, forgetCharts } from "../chart";
import type { Experiment, ExperimentRun } from "../data";
import { h, nothing, prose } from "../dom";
import { fittingAxis, gridOf, type Cell, type Grid, type Names, type TimeAxis } from "../options/cells";
import { cellAt, experimentGrid, experimentHeight } from "../options/experiment";
import { throughputRange } from "../options/phases";
import { table } from "../table";
import { count, percent, plural, rate, seconds, size } from "../units";
import type { Context, View } from "./context";
import { rampLegend } from "./ramp";

const NONE = "";

export function runsView(context: Context): View {
    const { experiment } = context.document;
    if (!experiment) return { element: nothing("This page is of one run.") };
    const names: Names = { row: experiment.row, column: experiment.column };
    let grid = gridOf(experiment.runs, names.row, names.column);
    let times = fittingAxis(grid);
    const place = h("div");
    const list = h("div", { "aria-live": "polite" });
    const select = (cell: Cell | null) => replace(list, ...runList(experiment, cell, () => select(null)));
    const draw = () => replace(place, ...pictures(experiment, grid, names, times, select));
    const choose = (name: keyof Names) => (event: Event) => {
        set(name, (event.target as HTMLSelectElement).value || null);
        context.changed();
    };
    const set = (name: keyof Names, value: string | null) => {
        const other = name === "row" ? "column" : "row";
        const before = names[name];
        names[name] = value;
        if (names[other] === names[name]) names[other] = before;
        for (const each of ["row", "column"] as const) choices[each].value = names[each] ?? NONE;
        grid = gridOf(experiment.runs, names.row, names.column);
        draw();
    };
    const choices = {
        row: choice("grid-rows", experiment.parameters, names.row, choose("row")),
        column: choice("grid-columns", experiment.parameters, names.column, choose("column")),
    };
    const unit = h(
        "select",
        {
            id: "grid-time",
            onchange: (event) => {
                times = (event.target as HTMLSelectElement).value as TimeAxis;
                draw();
                context.changed();
            },
        },
        h("option", { value: "linear" }, "on one axis"),
        h("option", { value: "log" }, "on one logarithmic axis"),
        h("option", { value: "share" }, "as a share of the slowest rank's"),
    );
    unit.value = times;
    draw();
    select(null);
    return {
        element: h(
            "div",
            {},
            unread(experiment),
            h("h2", {}, plural(experiment.runs.length, "run")),
            h(
                "p",
                { class: "grid-choices" },
                h("label", { class: "field" }, "Rows ", choices.row),
                h("label", { class: "field" }, "Columns ", choices.column),
                h("label", { class: "field" }, "Times ", unit),
            ),
            place,
            list,
        ),
        enter: ({ row, column, times: wanted }) => {
            const known = (name: string) => name === NONE || experiment.parameters.includes(name);
            if (row !== undefined && known(row)) set("row", row || null);
            if (column !== undefined && known(column)) set("column", column || null);
            if ([...unit.options].some(({ value }) => value === wanted)) unit.value = times = wanted as TimeAxis;
            draw();
        },
        state: () => ({
            ...(names.row === experiment.row ? {} : { row: names.row ?? NONE }),
            ...(names.column === experiment.column ? {} : { column: names.column ?? NONE }),
            ...(times === fittingAxis(grid) ? {} : { times }),
        }),
    };
}

function choice(id: string, parameters: string[], chosen: string | null, onchange: (event: Event) => void) {
    const select = h(
        "select",
        { id, onchange },
        h("option", { value: NONE }, "–"),
        ...parameters.map((name) => h("option", { value: name }, name)),
    );
    select.value = chosen ?? NONE;
    return select;
}

function replace(place: HTMLElement, ...children: HTMLElement[]): void {
    forgetCharts(place);
    place.replaceChildren(...children);
    drawCharts(place);
}

function unread({ unread: list }: Experiment): HTMLElement | null {
    if (!list.length) return null;
    return h(
        "section",
        { class: "absences", "aria-label": "What could not be read" },
        h("h2", {}, `${plural(list.length, "run")} could not be read`),
        h(
            "ul",
            {},
            ...list.map(({ name, why }) =>
                h("li", { class: "lost" }, h("strong", {}, name), h("span", { class: "detail" }, prose(why))),
            ),
        ),
    );
}

function pictures(
    { parameters }: Experiment,
    grid: Grid,
    names: Names,
    times: TimeAxis,
    select: (cell: Cell) => void,
): HTMLElement[] {
    const phases = grid.cells.flatMap(({ phases: own }) => own);
    if (!phases.length) return [nothing("Of none of these runs are write phases known.")];
    const range = throughputRange(phases);
    return [
        chart({
            title: "Which share of the ranks was done after how long, write phase by write phase",
            note:
                "A line is a phase in which several ranks wrote. Upright: all ranks took equally long. Above each picture: how far the ranks lie apart (coefficient of variation) and the phases' throughput, in the median; the colour is the throughput." +
                (parameters.length ? "" : " No parameter differs between these runs."),
            hint: "Click a picture for its runs.",
            height: experimentHeight(grid),
            option: (theme, width) => experimentGrid(theme, width, grid, names, times),
            clickAt: (x, y, width) => {
                const cell = cellAt(grid, names, width, x, y);
                if (cell) select(cell);
            },
        }),
        h("div", { class: "under-chart" }, rampLegend(range)),
    ];
}

function runList(experiment: Experiment, cell: Cell | null, all: () => void): HTMLElement[] {
    const runs = cell ? cell.runs : experiment.runs;
    return [
        h(
            "h2",
            { class: "chosen" },
            cell ? `${plural(runs.length, "run")} of the picture ` : "Runs ",
            cell ? h("button", { type: "button", class: "more", onclick: all }, "All runs") : null,
        ),
        runTable(experiment, runs),
    ];
}

function runTable({ parameters }: Experiment, runs: readonly ExperimentRun[]): HTMLElement {
    return table({
        caption: "Runs",
        rows: runs,
        columns: [
            { key: "name", title: "Run", value: (run) => run.name },
            // It has its own column, as every run has ranks.
            ...parameters
                .filter((name) => name !== "ranks")
                .map((name) => ({
                    key: `parameter ${name}`,
                    title: name,
                    value: (run: ExperimentRun) => natural(run.parameters[name]!),
                    show: (run: ExperimentRun) => run.parameters[name]!,
                })),
            { key: "user", title: "User", value: (run) => run.user },
            { key: "program", title: "Program", value: (run) => run.program },
            { key: "ranks", title: "Ranks", value: (run) => run.ranks, show: (run) => count(run.ranks) },
            { key: "took", title: "Took", value: (run) => run.duration_s, show: (run) => seconds(run.duration_s) },
            {
                key: "written",
                title: "Written",
                value: (run) => run.bytes_written,
                show: (run) => size(run.bytes_written),
            },
            { key: "read", title: "Read", value: (run) => run.bytes_read, show: (run) => size(run.bytes_read) },
            { key: "io", title: "Time in I/O", value: (run) => run.io_share, show: (run) => percent(run.io_share) },
            {
                key: "throughput",
                title: "Throughput",
                hint: "of its write phases, each by its slowest rank",
                value: (run) => run.write_throughput,
                show: (run) => rate(run.write_throughput),
            },
        ],
        sorting: { key: "name", descending: false },
        text: (run) => `${run.name} ${run.user ?? ""} ${run.program ?? ""}`,
        filterLabel: "Filter by run, user, program",
        empty: "No runs.",
    });
}

/** Numbers sort by their value. */
function natural(value: string): string | number {
    return value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
}
