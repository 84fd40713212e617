/**
 * What the timeline draws: single calls and, where calls were summed up, time bins; lane by lane, by their start.
 */

import { CLASSES, classOf } from "../theme";
import type { Calls } from "./calls";

export interface Spans {
    lanes: number;
    /** Where each lane's spans begin, and where the last one's end. */
    lane: Uint32Array;
    start: Float64Array;
    end: Float64Array;
    /** Nanoseconds in calls between start and end. */
    busy: Float64Array;
    /** Index into CLASSES. */
    class: Uint8Array;
    /** The call's index, or, of a bin, its cell's index as −1 − index. */
    reference: Int32Array;
}

/** All spans, or those of the calls that `wanted` takes; bins know no files, so a choice leaves them out. */
export function spansOf(calls: Calls, wanted?: (call: number) => boolean): Spans {
    const cells = wanted ? null : calls.cells;
    const most = calls.start.length + (cells?.bin.length ?? 0);
    const spans: Spans = {
        lanes: calls.lanes,
        lane: new Uint32Array(calls.lanes + 1),
        start: new Float64Array(most),
        end: new Float64Array(most),
        busy: new Float64Array(most),
        class: new Uint8Array(most),
        reference: new Int32Array(most),
    };
    const classOfFunction = Uint8Array.from(calls.timeline.functions, ({ kind }) => CLASSES.indexOf(classOf(kind)));
    const classOfKind = Uint8Array.from(calls.timeline.kinds, (kind) => CLASSES.indexOf(classOf(kind)));
    let n = 0;
    const addCall = (call: number) => {
        const duration = calls.duration[call]!;
        put(
            spans,
            n++,
            calls.start[call]!,
            calls.start[call]! + duration,
            duration,
            classOfFunction[calls.function[call]!]!,
            call,
        );
    };
    const addCell = (cell: number) => {
        const { binNs, bin, busy, kind } = cells!;
        const start = bin[cell]! * binNs;
        put(spans, n++, start, start + binNs, busy[cell]!, classOfKind[kind[cell]!]!, -1 - cell);
    };
    for (let lane = 0; lane < calls.lanes; lane++) {
        spans.lane[lane] = n;
        let cell = cells ? cells.lane[lane]! : 0;
        const lastCell = cells ? cells.lane[lane + 1]! : 0;
        for (let call = calls.lane[lane]!; call < calls.lane[lane + 1]!; call++) {
            while (cell < lastCell && cells!.bin[cell]! * cells!.binNs <= calls.start[call]!) addCell(cell++);
            if (!wanted || wanted(call)) addCall(call);
        }
        while (cell < lastCell) addCell(cell++);
    }
    spans.lane[calls.lanes] = n;
    return n === most ? spans : shortened(spans, n);
}

function put(spans: Spans, n: number, start: number, end: number, busy: number, kind: number, reference: number): void {
    spans.start[n] = start;
    spans.end[n] = end;
    spans.busy[n] = busy;
    spans.class[n] = kind;
    spans.reference[n] = reference;
}

function shortened(spans: Spans, n: number): Spans {
    return {
        ...spans,
        start: spans.start.slice(0, n),
        end: spans.end.slice(0, n),
        busy: spans.busy.slice(0, n),
        class: spans.class.slice(0, n),
        reference: spans.reference.slice(0, n),
    };
}
