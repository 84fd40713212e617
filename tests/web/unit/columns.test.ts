import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { decodeColumn, decodeColumns, type Numbers } from "../../../web/src/columns";
import type { Document, Timeline } from "../../../web/src/data";
import { callsOf, callsWithin, functionOf, laneOf } from "../../../web/src/timeline/calls";

const bytes = (...values: number[]) => Uint8Array.from(values);

test("planes are put together, the lowest byte first", () => {
    const planes = bytes(1, 2, 0x10, 0x20);
    expect([...decodeColumn(planes, { name: "x", type: "u16", delta: false, length: 2 })]).toEqual([0x1001, 0x2002]);
});

test("differences are summed up, downwards, too", () => {
    // 3, then −2: 1
    const planes = bytes(3, 0xfe, 0, 0xff, 0, 0xff, 0, 0xff);
    expect([...decodeColumn(planes, { name: "x", type: "i32", delta: true, length: 2 })]).toEqual([3, 1]);
});

test("wide values keep their sign and more than 32 bits", () => {
    const wide = (low: number[], rest: number[]) => bytes(...low, ...rest);
    const minusOne = wide([0xff, 0xff, 0xff, 0xff], [0xff, 0xff, 0xff, 0xff]);
    expect([...decodeColumn(minusOne, { name: "x", type: "i64", delta: false, length: 1 })]).toEqual([-1]);
    const large = wide([0, 0, 0, 0], [2, 0, 0, 0]);
    expect([...decodeColumn(large, { name: "x", type: "i64", delta: false, length: 1 })]).toEqual([2 * 2 ** 32]);
});

test("a page that is cut short is named", async () => {
    await expect(decodeColumns("", [{ name: "call_start", type: "i64", delta: true, length: 3 }])).rejects.toThrow(
        "column call_start ends at byte 24 of 0",
    );
});

test("a call is made of what lies within its time, of its process and thread, at lower levels", () => {
    const timeline = {
        processes: [{ process: 0 }, { process: 1 }],
        levels: ["mpiio", "posix"],
        bin_s: null,
    } as unknown as Timeline;
    // Lanes: MPI-IO and POSIX of process 0, then those of process 1. The call asked for: 100 to 200.
    const columns = new Map<string, Numbers>([
        ["call_lane", Uint32Array.of(0, 1, 7, 7, 8)],
        ["call_start", Float64Array.of(100, 90, 100, 120, 130, 180, 200, 150)],
        ["call_duration", Float64Array.of(100, 20, 10, 10, 10, 21, 0, 10)],
        ["call_thread", Uint16Array.of(0, 0, 0, 0, 1, 0, 0, 0)],
        ...["function", "file", "offset", "bytes", "error"].map((name): [string, Numbers] => [
            `call_${name}`,
            new Uint8Array(8),
        ]),
    ]);
    const calls = callsOf(timeline, columns);
    // Not: begun before it (1), of another thread (4), ended after it (5), of another process (7).
    expect(callsWithin(calls, 0)).toEqual([2, 3, 6]);
    expect(callsWithin(calls, 0, 2)).toEqual([2, 3]);
    expect(callsWithin(calls, 3)).toEqual([]);
});

test("what Python wrote is what TypeScript reads", async () => {
    const html = readFileSync(
        fileURLToPath(new URL("../../../build/viewer-pages/checkpoints.html", import.meta.url)),
        "utf-8",
    );
    const element = (id: string) => html.split(`id="${id}">`)[1]!.split("</script>")[0]!;
    const { timeline, run } = JSON.parse(element("halcyon-document")) as Document;
    const calls = callsOf(timeline!, await decodeColumns(element("halcyon-columns"), timeline!.columns));
    expect(calls.start.length).toBe(run.calls);
    // Each lane ascends, and lies within the run.
    for (let lane = 0; lane < calls.lanes; lane++) {
        for (let i = calls.lane[lane]! + 1; i < calls.lane[lane + 1]!; i++) {
            if (calls.start[i]! < calls.start[i - 1]!) throw new Error(`lane ${lane} descends at ${i}`);
        }
    }
    // Each MPI-IO call of this run is made of five cycles of four calls, which take up its time but for its own.
    const mpi = [...calls.function.keys()].filter((call) => functionOf(calls, call).level === "mpiio");
    expect(mpi.length).toBe(5120);
    for (const call of mpi.slice(0, 50)) {
        const parts = callsWithin(calls, call);
        expect(parts.map((part) => functionOf(calls, part).kind).join()).toBe(
            Array(5).fill("lock,read,write,unlock").join(),
        );
        expect(Math.floor(laneOf(calls, parts[0]!) / timeline!.levels.length)).toBe(
            Math.floor(laneOf(calls, call) / timeline!.levels.length),
        );
        const spent = parts.reduce((sum, part) => sum + calls.duration[part]!, 0);
        expect(spent).toBeLessThan(calls.duration[call]!);
        expect(spent).toBeGreaterThan(calls.duration[call]! * 0.7);
    }
});
