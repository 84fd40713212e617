/** The grid of an experiment: how evenly the ranks wrote, for each pair of values of two parameters. */

import { escapeHtml, tooltip } from "../chart";
import type { ExperimentRun, PhaseSketch } from "../data";
import type { Theme } from "../theme";
import { percent, rate, seconds, timeScale } from "../units";
import { throughputColour, throughputRange } from "./phases";
import { cumulativeOf } from "./quantiles";

const CELL_HEIGHT = 132;
const MOST_LINES = 24;
const LEFT = 96;
const TOP = 44;
const BOTTOM = 50;

export interface Cell {
    row: string;
    column: string;
    runs: ExperimentRun[];
    phases: PhaseSketch[];
}

export interface Grid {
    rows: string[];
    columns: string[];
    /** Row by row; those without runs are among them. */
    cells: Cell[];
}

/** Runs by the values of two parameters; null: all in one row, or one column. */
export function gridOf(runs: readonly ExperimentRun[], row: string | null, column: string | null): Grid {
    const of = (run: ExperimentRun, name: string | null) => (name === null ? "" : run.parameters[name]!);
    const values = (name: string | null) => [...new Set(runs.map((run) => of(run, name)))].sort(naturally);
    const [rows, columns] = [values(row), values(column)];
    const cells = rows.flatMap((r) =>
        columns.map((c) => {
            const own = runs.filter((run) => of(run, row) === r && of(run, column) === c);
            return { row: r, column: c, runs: own, phases: own.flatMap(({ phases }) => phases).filter(hasTimes) };
        }),
    );
    return { rows, columns, cells };
}

function hasTimes({ seconds }: PhaseSketch): boolean {
    return Math.max(0, ...seconds) > 0;
}

/** Numbers by their value, before words. */
function naturally(a: string, b: string): number {
    const [x, y] = [Number(a), Number(b)];
    const numbers = [a.trim() !== "" && Number.isFinite(x), b.trim() !== "" && Number.isFinite(y)];
    if (numbers[0] && numbers[1]) return x - y;
    return Number(numbers[1]) - Number(numbers[0]) || (a < b ? -1 : Number(a > b));
}

/** The middle one of values that are known. */
export function median(values: readonly (number | null)[]): number | null {
    const known = values.filter((value) => value !== null).sort((a, b) => a - b);
    const half = known.length / 2;
    if (!known.length) return null;
    return known.length % 2 ? known[Math.floor(half)]! : (known[half - 1]! + known[half]!) / 2;
}

export function experimentHeight({ rows }: Grid): number {
    return TOP + rows.length * CELL_HEIGHT + BOTTOM;
}

interface Line {
    cell: number;
    phase: PhaseSketch;
    data: [number, number][];
}

/** A picture per cell, a line per phase: which share of the ranks was done after how long. */
export function experimentGrid(theme: Theme, width: number, grid: Grid, names: Names, relative: boolean) {
    const { left, cell } = columnsOf(grid, names, width);
    const place = (index: number) => ({
        left: left + (index % grid.columns.length) * cell,
        top: TOP + Math.floor(index / grid.columns.length) * CELL_HEIGHT + 20,
        width: cell - 12,
        height: CELL_HEIGHT - 34,
    });
    const lines = linesOf(grid, relative);
    const largest = relative ? 1 : Math.max(0, ...lines.map(({ phase }) => Math.max(...phase.seconds))) || 1;
    const scale = timeScale(largest);
    const range = throughputRange(lines.map(({ phase }) => phase));
    const bottom = (index: number) => index >= grid.cells.length - grid.columns.length;
    return {
        title: [
            ...heads(theme, grid, names, cell, left),
            ...summaries(theme, grid, place, cell),
            {
                text: xName(relative, scale.name),
                left,
                top: experimentHeight(grid) - 22,
                padding: 0,
                textStyle: { fontSize: 12, fontWeight: 400, color: theme.muted },
            },
        ],
        grid: grid.cells.map((_, index) => ({
            ...place(index),
            show: true,
            borderColor: theme.grid,
            backgroundColor: theme.panel,
        })),
        xAxis: grid.cells.map((_, gridIndex) => ({
            type: "value",
            gridIndex,
            min: 0,
            max: largest,
            splitNumber: Math.max(1, Math.floor(cell / 70)),
            axisLabel: {
                show: bottom(gridIndex),
                color: theme.muted,
                fontSize: 11,
                hideOverlap: true,
                showMaxLabel: relative && (gridIndex + 1) % grid.columns.length === 0,
                formatter: relative ? (v: number) => percent(v) : scale.format,
            },
            axisTick: { show: false },
            splitLine: { lineStyle: { color: theme.grid } },
        })),
        yAxis: grid.cells.map((_, gridIndex) => ({ type: "value", gridIndex, min: 0, max: 1, show: false })),
        tooltip: {
            ...tooltip(theme),
            formatter: ({ seriesIndex, value }: { seriesIndex: number; value: [number, number] }) =>
                tip(grid, lines[seriesIndex]!, value, relative),
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

export interface Names {
    row: string | null;
    column: string | null;
}

function xName(relative: boolean, unit: string): string {
    return relative ? "time of a rank, as a share of the slowest one's" : `time of a rank in the phase (${unit})`;
}

function linesOf(grid: Grid, relative: boolean): Line[] {
    return grid.cells.flatMap(({ phases }, cell) => {
        const step = Math.max(1, phases.length / MOST_LINES);
        const shown = Array.from(
            { length: Math.min(phases.length, MOST_LINES) },
            (_, i) => phases[Math.floor(i * step)]!,
        );
        return shown.map((phase) => {
            const unit = relative ? Math.max(...phase.seconds) : 1;
            return { cell, phase, data: cumulativeOf(phase, 100).map(([x, y]): [number, number] => [x / unit, y]) };
        });
    });
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
function summaries(theme: Theme, grid: Grid, place: (index: number) => { left: number; top: number }, cell: number) {
    return grid.cells.map(({ runs, phases }, index) => {
        const variation = median(phases.map((phase) => phase.variation));
        const speed = median(phases.map(({ throughput }) => throughput));
        const known = [variation === null ? null : `± ${percent(variation)}`, speed === null ? null : rate(speed)];
        return {
            text: phases.length ? known.filter(Boolean).join(", ") : runs.length ? "no phases known" : "no run",
            left: place(index).left,
            top: place(index).top - 17,
            padding: 0,
            textStyle: { fontSize: 12, fontWeight: 400, color: theme.muted, width: cell - 12, overflow: "truncate" },
        };
    });
}

function tip(grid: Grid, { cell, phase }: Line, [x, share]: [number, number], relative: boolean): string {
    const run = grid.cells[cell]!.runs.find(({ phases }) => phases.includes(phase));
    const slowest = Math.max(...phase.seconds);
    return [
        `<b>${escapeHtml(run?.name ?? "")}</b>, phase ${phase.number}: ${escapeHtml(rate(phase.throughput))}`,
        `${phase.rank_count} ranks, the slowest took ${seconds(slowest)}, the median one ${seconds(phase.median_s)}`,
        `${percent(share)} of the ranks took at most ${seconds(relative ? x * slowest : x)}`,
    ].join("<br>");
}
