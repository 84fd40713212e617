/** Writes the sample pages before the tests: build/viewer-pages/*.html; not again while what they are made of is the same. */

import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = join(root, "build/viewer-pages");

export default function setup(): void {
    const made = [
        join(root, "python/halcyon/observe"),
        join(root, "python/halcyon/predict"),
        join(root, "tests/web"),
    ].flatMap(timesOf);
    if (oldest(pages) > Math.max(...made)) return;
    execFileSync(join(root, ".venv/bin/python"), [join(root, "tests/web/sample_pages.py"), pages], {
        env: { ...process.env, PYTHONPATH: `${root}/python:${root}/tests/web` },
        stdio: "inherit",
    });
}

/** When the Python sources and the template below a folder were changed. */
function timesOf(folder: string): number[] {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return timesOf(path);
        return /\.(py|html)$/.test(entry.name) ? [statSync(path).mtimeMs] : [];
    });
}

/** When the first of the nine pages was written; long ago when one is missing. */
function oldest(folder: string): number {
    try {
        const times = timesOf(folder);
        return times.length === 9 ? Math.min(...times) : 0;
    } catch {
        return 0;
    }
}
