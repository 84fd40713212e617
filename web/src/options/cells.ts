/** The runs of an experiment in the cells of a grid: one for each pair of values of two parameters. */

import type { ExperimentRun, PhaseSketch } from "../data";

/** The parameters over which the grid lies. */
export interface Names {
    row: string | null;
    column: string | null;
}

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

function hasTimes(phase: PhaseSketch): boolean {
    return Math.max(0, slowestOf(phase)) > 0;
}

/** Time of the slowest rank, in seconds. */
export function slowestOf({ seconds }: PhaseSketch): number {
    return Math.max(...seconds);
}

/** The phases whose ranks can be compared with each other: those of several. */
export function comparable(phases: readonly PhaseSketch[]): PhaseSketch[] {
    return phases.filter(({ rank_count }) => rank_count > 1);
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

/** What the axes of the pictures tell: seconds, on one axis for all, or shares of each phase's slowest rank. */
export type TimeAxis = "linear" | "log" | "share";

/** Beyond so many times the fastest picture's typical slowest rank, its lines would lie on the left edge. */
const FAR_APART = 10;

/** The axis on which all pictures of a grid can be read. */
export function fittingAxis({ cells }: Grid): TimeAxis {
    const typical = cells.flatMap(({ phases }) => median(comparable(phases).map(slowestOf)) ?? []);
    return Math.max(...typical) > FAR_APART * Math.min(...typical) ? "log" : "linear";
}
