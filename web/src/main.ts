/** Reads the data out of the page and shows it. */

import "./style.css";
import { VERSION, type Document } from "./data";
import { h, prose } from "./dom";
import { Shell } from "./shell";
import { readCalls } from "./timeline/calls";

async function start(place: HTMLElement): Promise<void> {
    const text = document.getElementById("halcyon-document")?.textContent;
    if (!text) {
        place.replaceChildren(
            h(
                "p",
                { class: "failure" },
                prose("This is the viewer without data: `halcyon report RUN` writes pages that have some."),
            ),
        );
        return;
    }
    const data = JSON.parse(text) as Document;
    if (data.version !== VERSION) {
        throw new Error(
            `The data is of version ${data.version}, this viewer reads version ${VERSION}: write the report anew.`,
        );
    }
    const columns = document.getElementById("halcyon-columns");
    const calls = data.timeline ? await readCalls(data.timeline, columns?.textContent ?? "") : null;
    columns?.remove(); // megabytes that nobody needs any more
    new Shell(data, calls, place);
}

const place = document.getElementById("page")!;
start(place).then(
    () => (place.dataset.ready = "yes"),
    (why: unknown) => {
        place.replaceChildren(
            h(
                "p",
                { class: "failure", role: "alert" },
                `This report cannot be shown. ${why instanceof Error ? why.message : String(why)}`,
            ),
        );
        throw why;
    },
);
