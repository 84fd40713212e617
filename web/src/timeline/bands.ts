/** Which lanes lie in which lines of pixels: one band per process and level, per process, or per several processes. */

export interface Rows {
    /** First and last row in sight, fractions included: row r lies between r and r + 1. */
    from: number;
    to: number;
}

export interface Band {
    top: number;
    bottom: number;
    lanes: number[];
    /** Levels of the lanes, and processes, by index: for labels and for finding what is under the pointer. */
    row: number;
}

const STRIP = 4; // pixels that a level needs to be seen beside others

/** A row's height in pixels when its levels are drawn apart. */
export function separates(height: number, rows: Rows, levels: number): boolean {
    return levels > 1 && height / (rows.to - rows.from) >= STRIP * levels + 2;
}

/**
 * Bands from top to bottom of a picture `height` pixels high. `shown` are the indices of the levels to draw, `levels` is
 * how many the data has, `processes` how many rows.
 */
export function bandsOf(
    height: number,
    rows: Rows,
    processes: number,
    levels: number,
    shown: readonly number[],
): Band[] {
    if (!shown.length || !processes) return [];
    const perRow = height / (rows.to - rows.from);
    const lanesOf = (row: number) => shown.map((level) => row * levels + level);
    const bands: Band[] = [];
    if (perRow < 1) {
        for (let y = 0; y < height; y++) {
            const first = Math.max(0, Math.floor(rows.from + y / perRow));
            const last = Math.min(processes, Math.max(first + 1, Math.floor(rows.from + (y + 1) / perRow)));
            const lanes: number[] = [];
            for (let row = first; row < last; row++) lanes.push(...lanesOf(row));
            if (lanes.length) bands.push({ top: y, bottom: y + 1, lanes, row: first });
        }
        return bands;
    }
    const gap = perRow >= 6 ? 1 : 0;
    const apart = separates(height, rows, shown.length);
    for (let row = Math.max(0, Math.floor(rows.from)); row < Math.min(processes, Math.ceil(rows.to)); row++) {
        const top = Math.round((row - rows.from) * perRow);
        const bottom = Math.round((row + 1 - rows.from) * perRow) - gap;
        if (!apart) bands.push({ top, bottom, lanes: lanesOf(row), row });
        else {
            lanesOf(row).forEach((lane, index) => {
                const edge = (i: number) => top + Math.round(((bottom - top) * i) / shown.length);
                const high = edge(index + 1) - edge(index);
                bands.push({ top: edge(index), bottom: edge(index + 1) - (high >= 6 ? 1 : 0), lanes: [lane], row });
            });
        }
    }
    return bands;
}
