/** The grid of an experiment: how evenly the ranks wrote, for each pair of values of two parameters. */

import { escapeHtml, tooltip } from "../chart";
import type { PhaseSketch } from "../data";
import type { Theme } from "../theme";
import { percent, rate, seconds, timeScale } from "../units";
import { comparable, median, slowestOf, type Cell, type Grid, type Names, type TimeAxis } from "./cells";
import { throughputColour, throughputRange } from "./phases";
import { cumulativeOf } from "./quantiles";
import { roundStep } from "./time_series";

const CELL_HEIGHT = 132;
const MOST_LINES = 24;
const LEFT = 96;
const TOP = 44;
const BOTTOM = 50;

export function experimentHeight({ rows }: Grid): number {
    return TOP + rows.length * CELL_HEIGHT + BOTTOM;
}

interface Line {
    cell: number;
    phase: PhaseSketch;
    data: [number, number][];
}

/** A picture per cell, a line per phase: which share of the ranks was done after how long. */
export function experimentGrid(theme: Theme, width: number, grid: Grid, names: Names, times: TimeAxis) {
    const { left, cell } = columnsOf(grid, names, width);
    const place = placing(grid, left, cell);
    const lines = linesOf(grid, times);
    const range = throughputRange(grid.cells.flatMap(({ phases }) => phases));
    const axis = timeAxis(lines, times);
    return {
        title: [
            ...heads(theme, grid, names, cell, left),
            ...summaries(theme, grid, place, cell),
            ...lonely(theme, grid, place),
            small(theme, { text: axis.name, left, top: experimentHeight(grid) - 22, padding: 0 }),
        ],
        grid: grid.cells.map((_, index) => ({
            ...place(index),
            show: true,
            borderColor: theme.grid,
            backgroundColor: theme.panel,
        })),
        xAxis: grid.cells.map((_, index) => cellAxis(theme, grid, index, cell, axis)),
        yAxis: grid.cells.map((_, gridIndex) => ({ type: "value", gridIndex, min: 0, max: 1, show: false })),
        tooltip: {
            ...tooltip(theme),
            formatter: ({ seriesIndex, value }: { seriesIndex: number; value: [number, number] }) =>
                tip(grid, lines[seriesIndex]!, value, times),
        },
        series: lines.map(({ cell: at, phase, data }) => ({
            type: "line",
            step: "end",
            xAxisIndex: at,
            yAxisIndex: at,
            data,
            showSymbol: false,
            triggerLineEvent: true,
            lineStyle: { width: 1.6, opacity: 0.85 },
            color: throughputColour(theme, phase, range),
        })),
    };
}

interface Place {
    left: number;
    top: number;
    width: number;
    height: number;
}

/** Where the picture of each cell lies. */
function placing({ columns }: Grid, left: number, cell: number): (index: number) => Place {
    return (index) => ({
        left: left + (index % columns.length) * cell,
        top: TOP + Math.floor(index / columns.length) * CELL_HEIGHT + 20,
        width: cell - 12,
        height: CELL_HEIGHT - 34,
    });
}

interface Axis {
    times: TimeAxis;
    name: string;
    min: number;
    max: number;
    label: (value: number) => string;
}

/** The axis that all pictures share. */
function timeAxis(lines: readonly Line[], times: TimeAxis): Axis {
    if (times === "share")
        return { times, name: "time of a rank, as a share of the slowest one's", min: 0, max: 1, label: percent };
    const max = Math.max(0, ...lines.map(({ phase }) => slowestOf(phase))) || 1;
    const scale = timeScale(max);
    if (times === "linear")
        return { times, name: `time of a rank in the phase (${scale.name})`, min: 0, max, label: scale.format };
    const known = lines.flatMap(({ data }) => data.map(([x]) => x)).filter((x) => x > 0);
    return {
        times,
        name: "time of a rank in the phase, on a logarithmic axis: equal steps are equal factors",
        min: 10 ** Math.floor(Math.log10(Math.min(...known, max))),
        max: roundStep(max, 1),
        label: (value) => seconds(value).replace(/\.0+ /, " "),
    };
}

function cellAxis(theme: Theme, { cells, columns }: Grid, gridIndex: number, cell: number, axis: Axis) {
    const last = (gridIndex + 1) % columns.length === 0;
    return {
        type: axis.times === "log" ? "log" : "value",
        gridIndex,
        min: axis.min,
        max: axis.max,
        splitNumber: Math.max(1, Math.floor(cell / 70)),
        axisLabel: {
            show: gridIndex >= cells.length - columns.length,
            color: theme.muted,
            fontSize: 11,
            hideOverlap: true,
            showMaxLabel: axis.times === "share" && last,
            formatter: axis.label,
        },
        axisTick: { show: false },
        splitLine: { lineStyle: { color: theme.grid } },
    };
}

/** The cell at a place of experimentGrid's chart that has runs. */
export function cellAt(grid: Grid, names: Names, width: number, x: number, y: number): Cell | undefined {
    const { left, cell } = columnsOf(grid, names, width);
    const [column, row] = [Math.floor((x - left) / cell), Math.floor((y - TOP) / CELL_HEIGHT)];
    if (column < 0 || column >= grid.columns.length || row < 0 || row >= grid.rows.length) return undefined;
    const found = grid.cells[row * grid.columns.length + column]!;
    return found.runs.length ? found : undefined;
}

function columnsOf(grid: Grid, names: Names, width: number): { left: number; cell: number } {
    const left = names.row ? LEFT : 44;
    return { left, cell: (width - left - 16) / grid.columns.length };
}

function linesOf(grid: Grid, times: TimeAxis): Line[] {
    return grid.cells.flatMap(({ phases: all }, cell) => {
        const phases = comparable(all);
        const step = Math.max(1, phases.length / MOST_LINES);
        const shown = Array.from(
            { length: Math.min(phases.length, MOST_LINES) },
            (_, i) => phases[Math.floor(i * step)]!,
        );
        return shown.map((phase) => ({ cell, phase, data: dataOf(phase, times) }));
    });
}

function dataOf(phase: PhaseSketch, times: TimeAxis): [number, number][] {
    const unit = times === "share" ? slowestOf(phase) : 1;
    const points = cumulativeOf(phase, 100).map(([x, y]): [number, number] => [x / unit, y]);
    // No logarithm of nothing: ranks that took no time begin the line at the first that took some.
    return times === "log" ? points.filter(([x]) => x > 0) : points;
}

function heads(theme: Theme, grid: Grid, names: Names, cell: number, left: number) {
    const style = { fontSize: 13, color: theme.ink, overflow: "truncate" };
    const columns = grid.columns.map((value, i) => ({
        text: names.column ? `${i ? "" : `${names.column} = `}${value}` : "",
        left: left + i * cell,
        top: 4,
        padding: 0,
        textStyle: { ...style, width: cell - 12 },
    }));
    const rows = grid.rows.map((value, i) => ({
        text: names.row ? `${names.row} =\n${value}` : "",
        left: 0,
        top: TOP + i * CELL_HEIGHT + 44,
        padding: 0,
        textStyle: { ...style, width: LEFT - 12, lineHeight: 18 },
    }));
    return [...columns, ...rows];
}

/** Over each picture: how far the ranks lie apart, and how fast the phases were. */
function summaries(theme: Theme, grid: Grid, place: (index: number) => Place, cell: number) {
    return grid.cells.map(({ runs, phases }, index) => {
        const variation = median(comparable(phases).map((phase) => phase.variation));
        const speed = median(phases.map(({ throughput }) => throughput));
        const known = [variation === null ? null : `± ${percent(variation)}`, speed === null ? null : rate(speed)];
        const { left, top } = place(index);
        return small(
            theme,
            {
                text: phases.length ? known.filter(Boolean).join(", ") : runs.length ? "no phases known" : "no run",
                left,
                top: top - 17,
                padding: 0,
            },
            { width: cell - 12, overflow: "truncate" },
        );
    });
}

/** Words in the pictures of runs in which one rank wrote alone: of one there is no line. */
function lonely(theme: Theme, grid: Grid, place: (index: number) => Place) {
    return grid.cells.flatMap(({ phases }, index) => {
        if (!phases.length || comparable(phases).length) return [];
        const { left, top, width, height } = place(index);
        const text = `One rank wrote, in ${seconds(median(phases.map(slowestOf)))}:\nnone to compare it with.`;
        return [
            small(
                theme,
                { text, left: left + width / 2, top: top + height / 2 - 18, textAlign: "center", padding: 0 },
                { width: width - 8, overflow: "break", lineHeight: 17 },
            ),
        ];
    });
}

function small(theme: Theme, title: Record<string, unknown>, style: Record<string, unknown> = {}) {
    return { ...title, textStyle: { fontSize: 12, fontWeight: 400, color: theme.muted, ...style } };
}

function tip(grid: Grid, { cell, phase }: Line, [x, share]: [number, number], times: TimeAxis): string {
    const run = grid.cells[cell]!.runs.find(({ phases }) => phases.includes(phase));
    const slowest = slowestOf(phase);
    return [
        `<b>${escapeHtml(run?.name ?? "")}</b>, phase ${phase.number}: ${escapeHtml(rate(phase.throughput))}`,
        `${phase.rank_count} ranks, the slowest took ${seconds(slowest)}, the median one ${seconds(phase.median_s)}`,
        `${percent(share)} of the ranks took at most ${seconds(times === "share" ? x * slowest : x)}`,
    ].join("<br>");
}
