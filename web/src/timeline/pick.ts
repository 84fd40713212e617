/** Which call is under the pointer. */

import type { Band } from "./bands";
import { spansAt, type Tree, type Window } from "./tree";

const MOST = 3000;

export interface Picked {
    /** Index of the span. */
    span: number;
    /** How many spans lie as near: more than one where several share a pixel. */
    near: number;
}

/**
 * The span of the band at time `at`: of those within `reach` the one that holds the time, of those that do the one of
 * the lowest level, of those the shortest; if none holds it, the nearest.
 */
export function pick(tree: Tree, band: Band, at: number, reach: number): Picked | null {
    const window: Window = { from: at - reach, to: at + reach };
    const { start, end } = tree.spans;
    let best: { span: number; lane: number; distance: number; length: number } | null = null;
    let near = 0;
    for (const lane of band.lanes) {
        for (const span of spansAt(tree, lane, window, MOST)) {
            near++;
            const distance = Math.max(0, start[span]! - at, at - end[span]!);
            const length = end[span]! - start[span]!;
            const better =
                !best ||
                distance < best.distance ||
                (distance === best.distance && (lane > best.lane || (lane === best.lane && length < best.length)));
            if (better) best = { span, lane, distance, length };
        }
    }
    return best ? { span: best.span, near } : null;
}
