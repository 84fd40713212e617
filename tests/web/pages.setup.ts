/** Writes the sample pages before the tests: build/viewer-pages/*.html. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export default function setup(): void {
    execFileSync(`${root}/.venv/bin/python`, [`${root}/tests/web/sample_pages.py`, `${root}/build/viewer-pages`], {
        env: { ...process.env, PYTHONPATH: `${root}/python:${root}/tests/web` },
        stdio: "inherit",
    });
}
