import { afterAll, expect, test } from "vitest";
import { closeBrowser, describeInBrowser, nextFrame, openPage, visit, VIEWS } from "./page";

afterAll(closeBrowser);

/** Pages of runs that lie on known servers. */
const WITH_SERVERS = ["checkpoints", "summed", "counted"];

describeInBrowser("every view", () => {
    test.each(["checkpoints", "posix", "alone", "summed", "counted", "empty"])(
        "of the page %s stands without complaints",
        async (name) => {
            const { page, complaints } = await openPage(name);
            const shown = await page.locator("[role=tab]").evaluateAll((tabs) => tabs.map(({ id }) => id.slice(4)));
            expect(shown).toEqual(VIEWS.filter((view) => view !== "servers" || WITH_SERVERS.includes(name)));
            for (const view of shown) {
                await visit(page, view);
                expect((await page.locator(`#panel-${view} h2`).first().innerText()).length).toBeGreaterThan(3);
            }
            expect(complaints).toEqual([]);
            await page.context().close();
        },
    );

    test.each([
        [1280, "light"],
        [1280, "dark"],
        [800, "light"],
        [800, "dark"],
    ] as const)("fits %i pixels, %s", async (width, scheme) => {
        const { page, complaints } = await openPage("checkpoints", {
            width,
            scheme,
        });
        for (const view of VIEWS) {
            await visit(page, view);
            const wider = await page.evaluate(
                () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
            );
            expect(wider, `${view} is wider than the window`).toBeLessThanOrEqual(0);
            // A chart that was drawn has marks; they must lie within the window.
            for (const chart of await page.locator(`#panel-${view} .chart-place`).all()) {
                const box = (await chart.boundingBox())!;
                expect(box.width).toBeGreaterThan(200);
                expect(box.x + box.width).toBeLessThanOrEqual(width);
                expect(await chart.locator("svg path, canvas").count()).toBeGreaterThan(0);
            }
        }
        expect(complaints).toEqual([]);
        await page.context().close();
    });

    test("says what a run without MPI-IO and known servers lacks", async () => {
        const { page } = await openPage("posix");
        await expect(page.locator("#panel-overview").innerText()).resolves.toContain("No MPI-IO in this run");
        await visit(page, "calls");
        await expect(page.locator("#panel-calls").innerText()).resolves.toContain("No MPI-IO in this run");
        await visit(page, "files");
        await expect(page.locator("#panel-files").innerText()).resolves.toContain("On which servers these files lie");
        await page.context().close();
    });

    test("says how well the calls can be forecast, and where there are none", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "predictability");
        const panel = page.locator("#panel-predictability");
        expect(await panel.innerText()).toContain("The calls of rank 0 that reach the file system");
        const row = panel.locator("table").first().locator("tbody tr").first();
        const [what, own, , contiguous] = await row.locator("td").allInnerTexts();
        expect([what, contiguous]).toEqual(["call site", "–"]);
        expect(own).toMatch(/^\d[\d.]* %$/);
        expect(await panel.locator("figure.chart").count()).toBe(6);
        await page.context().close();
        const { page: counted } = await openPage("counted");
        await visit(counted, "predictability");
        expect(await counted.locator("#panel-predictability").innerText()).toContain("No calls were replayed");
        await counted.context().close();
    });

    test("says that MPI's start and end are left out, and where they are not", async () => {
        const { page } = await openPage("alone");
        expect(await page.locator("#panel-overview").innerText()).toContain("68; 2 more of MPI's start and end");
        await visit(page, "timeline");
        const timeline = await page.locator("#panel-timeline").innerText();
        expect(timeline).toContain("70 calls of 1 process");
        expect(timeline).toContain("2 calls of MPI's start and end are among them");
        await visit(page, "calls");
        expect(await page.locator("#panel-calls").innerText()).not.toContain("MPI_Init");
        await page.context().close();
    });

    test("tells processes without MPI by that word", async () => {
        const { page } = await openPage("posix");
        for (const view of ["phases", "files"]) {
            await visit(page, view);
            const told = await page.locator(`#panel-${view}`).innerText();
            expect(told.toLowerCase()).toContain("processes");
            expect(told.match(/\branks?\b/gi), view).toBeNull();
        }
        await page.context().close();
    });

    test("says that a process has none to be compared with", async () => {
        const { page } = await openPage("alone");
        await visit(page, "phases");
        expect(await page.locator("#panel-phases").innerText()).toContain("Process 0 alone did this phase's I/O");
        expect(await page.locator("#panel-phases .pair").count()).toBe(0);
        await page.context().close();
    });

    test("keeps the words of a pattern on one line", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "files");
        const patterns = page.locator("#panel-files td.one-line");
        expect(await patterns.count()).toBe(10);
        expect(await patterns.first().evaluate((cell) => getComputedStyle(cell).whiteSpace)).toBe("nowrap");
        await page.context().close();
    });

    test("draws commands as code", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "findings");
        expect(await page.locator("#panel-findings code").allInnerTexts()).toContain("halcyon advise --try");
        expect(await page.locator("#panel-findings").innerText()).not.toContain("`");
        await page.context().close();
    });

    test("tells functions of the same colour apart in the legend, too", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "calls");
        const chart = page.locator("#panel-calls .chart", { hasText: "that took at most so long" });
        const dashed = await chart
            .locator("svg path[stroke-dasharray]")
            .evaluateAll((paths) =>
                paths
                    .filter((path) => path.getAttribute("stroke-width") === "2")
                    .map((path) => path.getAttribute("stroke")),
            );
        // Ten functions, seven colours: three lines are dashed, and so are their entries.
        expect(dashed.length).toBe(6);
        expect(new Set(dashed).size).toBe(3);
        await page.context().close();
    });

    test("opens with how the command failed, and with what is missing", async () => {
        const { page } = await openPage("checkpoints");
        const first = await page.locator("#panel-overview > div > *").first().innerText();
        expect(first).toContain("lost: 3 × full buffer");
        expect(first).toContain("not seen: mmap stores");
        const whole = await openPage("empty");
        const [failed, missing] = await whole.page.locator("#panel-overview > div > *").allInnerTexts();
        expect(failed).toContain("exit status 139");
        expect(missing).toContain("Nothing was lost");
        await visit(whole.page, "findings");
        expect(await whole.page.locator("#panel-findings").innerText()).toContain("No findings");
        await page.context().close();
        await whole.page.context().close();
    });
});

/** Texts of the cells that the edge of a table's box cuts, and that nothing covers. */
function numbersInPart(frame: Element): string[] {
    const box = frame.querySelector(".scroll")!;
    const from = box.getBoundingClientRect().left + box.clientLeft;
    const to = from + box.clientWidth;
    const covered = (side: string) => (frame.classList.contains(`more-${side}`) ? cut(side) : 0);
    const cut = (side: string) => parseFloat((frame as HTMLElement).style.getPropertyValue(`--cut-${side}`)) || 0;
    return [...frame.querySelectorAll("td.number")].flatMap((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        const { left, right } = text.getBoundingClientRect();
        const atLeft = left < from - 1 && right > from + covered("left") + 1;
        const atRight = right > to + 1 && left < to - covered("right") - 1;
        return atLeft || atRight ? [cell.textContent ?? ""] : [];
    });
}

describeInBrowser("a table wider than its window", () => {
    test("shows on which side columns are hidden, and scrolls by keys", async () => {
        const { page } = await openPage("checkpoints", { width: 800 });
        await visit(page, "phases");
        const table = page.locator("#panel-phases .table", { hasText: "Throughput" });
        const [frame, box] = [table.locator(".sideways"), table.locator(".scroll")];
        expect(await frame.getAttribute("class")).toBe("sideways more-right");
        expect(await table.locator(".overflow").innerText()).toContain("scroll sideways");
        expect(await box.getAttribute("tabindex")).toBe("0");
        await box.focus();
        await page.keyboard.press("ArrowRight");
        await table.locator(".more-left").waitFor();
        expect(await box.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0);
        await page.context().close();
    });

    test.each([420, 620, 800])("shows no number in part at %i pixels, wherever it is scrolled to", async (width) => {
        const { page } = await openPage("checkpoints", { width });
        for (const view of ["files", "phases", "servers", "calls"]) {
            await visit(page, view);
            for (const table of await page.locator(`#panel-${view} .sideways`).all()) {
                for (const share of [0, 0.3, 0.61, 1]) {
                    await table
                        .locator(".scroll")
                        .evaluate((box, to) => (box.scrollLeft = to * box.scrollWidth), share);
                    await nextFrame(page);
                    const bare = await table.evaluate(numbersInPart);
                    expect(bare, `${view} at ${share}`).toEqual([]);
                }
            }
        }
        await page.context().close();
    });

    test("is no stop of the Tab key where all of it is seen", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "phases");
        const table = page.locator("#panel-phases .table", { hasText: "Throughput" });
        expect(await table.locator(".sideways").getAttribute("class")).toBe("sideways");
        expect(await table.locator(".scroll").getAttribute("tabindex")).toBeNull();
        await page.context().close();
    });
});

describeInBrowser("a page that cannot be shown", () => {
    test("says why", async () => {
        const { page } = await openPage("empty");
        const html = (await page.content())
            .replace(/"version":\d+\}/, '"version":99}')
            .replace(/ data-ready="yes"/, "");
        await page.setContent(html);
        await page.locator("[role=alert]").waitFor();
        expect(await page.locator("[role=alert]").innerText()).toContain("The data is of version 99");
        await page.context().close();
    });
});

describeInBrowser("links", () => {
    test("lead from a finding to its file and to its rank on the timeline", async () => {
        const { page, complaints } = await openPage("checkpoints");
        await visit(page, "findings");
        await page.locator("[data-finding=data-sieving-new-data] a").first().click();
        await page.locator("#panel-files .detail-card").waitFor();
        expect(await page.locator("#panel-files .detail-card h3").innerText()).toBe(
            "/scratch/ada/sedov/sedov_hdf5_chk_0000",
        );
        expect(await page.locator('#panel-files tr[aria-selected="true"]').innerText()).toContain("chk_0000");
        await visit(page, "findings");
        await page.locator("[data-finding=slow-rank-write] a").first().click();
        await page.locator("#panel-timeline").waitFor();
        await nextFrame(page);
        expect(await page.locator(".sight").innerText()).toContain("rank 5 on node001 to rank 9 on node001");
        expect(complaints).toEqual([]);
        await page.context().close();
    });

    test("lead from a finding to where it is worst", async () => {
        const { page, complaints } = await openPage("checkpoints");
        await visit(page, "findings");
        const card = page.locator("[data-finding=slow-rank-write]");
        expect(await card.innerText()).toMatch(/from 20\.0 s to 2 min 4\d s/);
        await card.locator("a.worst").click();
        await page.locator("#panel-timeline").waitFor();
        await nextFrame(page);
        const [, from, to] = (await page.locator(".sight").innerText()).match(/([\d.]+) s to ([\d.]+) s/)!;
        expect(Number(to) - Number(from)).toBeLessThan(10); // one checkpoint of eight
        expect(complaints).toEqual([]);
        await page.context().close();
    });

    test("are no links where there are no calls to look at", async () => {
        const { page } = await openPage("counted");
        await visit(page, "findings");
        const places = page.locator("[data-finding=one-rank-moves-all] .places");
        expect(await places.innerText()).toContain("rank 0");
        expect(await places.locator('a[href^="#timeline"]').count()).toBe(0);
        await page.context().close();
    });

    test("take a reader of the address to the same place", async () => {
        const { page } = await openPage("checkpoints", {
            hash: "#timeline?from=60&to=64&file=3",
        });
        await nextFrame(page);
        expect(await page.locator(".sight").innerText()).toContain("59.8 s to 64.2 s");
        expect(await page.locator("#timeline-file").inputValue()).toContain("chk_0002");
        await page.context().close();
    });
});

describeInBrowser("a chosen call", () => {
    test("is taken apart into the calls below it", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "calls");
        await page.locator("#panel-calls tr.choice", { hasText: "MPI_File_write_at_all" }).first().click();
        await page.locator(".parts").waitFor();
        // Five cycles of lock, read, write, unlock.
        expect(await page.locator(".parts .chart figcaption").innerText()).toContain("20 calls below it");
        const rows = await page.locator(".parts tbody tr").allInnerTexts();
        expect(rows.map((row) => row.split("\t")[3]).join()).toBe("5,5,5,5");
        await page.context().close();
    });
});
