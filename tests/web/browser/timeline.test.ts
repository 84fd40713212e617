import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { closeBrowser, describeInBrowser, nextFrame, openPage, visit } from "./page";

afterAll(closeBrowser);

const canvas = (page: Page) => page.locator(".stage > canvas");
const told = async (page: Page, name: string) => Number(await canvas(page).getAttribute(`data-${name}`));

/** How many pixels differ from the background. */
const painted = (page: Page) =>
    page.evaluate(() => {
        const picture = document.querySelector<HTMLCanvasElement>(".stage > canvas")!;
        const { data } = picture.getContext("2d")!.getImageData(0, 0, picture.width, picture.height);
        const pixels = new Uint32Array(data.buffer);
        const background = pixels[pixels.length - 1];
        return pixels.reduce((n, pixel) => n + (pixel === background ? 0 : 1), 0);
    });

describeInBrowser("the timeline of a million calls", () => {
    test("costs no more than its pixels at any zoom, and one picture per frame", async () => {
        const { page, complaints } = await openPage("million");
        await visit(page, "timeline");
        expect(await page.locator("#panel-timeline h2").innerText()).toBe("1,045,648 calls of 256 processes");
        const { width, lanes } = await page.evaluate(() => ({
            width: document.querySelector<HTMLCanvasElement>(".stage > canvas")!.width,
            lanes: 256 * 4,
        }));
        // Per lane: its pixels, and of the tree no more than two paths of 16 nodes on each of 4 floors.
        const most = lanes * (2 * width + 2 * 4 * 16);
        const box = (await canvas(page).boundingBox())!;
        await page.mouse.move(box.x + box.width * 0.24, box.y + box.height / 2);
        for (let step = 0; step < 60; step++) {
            await page.mouse.wheel(0, -200);
            await nextFrame(page);
            expect(await told(page, "touched")).toBeLessThan(most);
        }
        // Where nothing happens, calls before and after cost nothing: only the paths to there are walked.
        await page.evaluate(() => (location.hash = "#timeline?from=30&to=31"));
        await nextFrame(page);
        expect(await told(page, "touched")).toBeLessThan(lanes * 2 * 4 * 16);

        // 200 events at once are no 200 pictures: at most one per frame.
        await page.locator(".stage").focus();
        const pictures = await page.evaluate(async () => {
            const picture = document.querySelector<HTMLElement>(".stage > canvas")!;
            const stage = document.querySelector<HTMLElement>(".stage")!;
            const before = Number(picture.dataset.frames);
            for (let i = 0; i < 200; i++) {
                stage.dispatchEvent(
                    new KeyboardEvent("keydown", {
                        key: i % 2 ? "ArrowLeft" : "ArrowRight",
                        bubbles: true,
                    }),
                );
            }
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            return Number(picture.dataset.frames) - before;
        });
        expect(pictures).toBeGreaterThanOrEqual(1);
        expect(pictures).toBeLessThanOrEqual(2);
        expect(complaints).toEqual([]);
        await page.context().close();
    });
});

describeInBrowser("the timeline", () => {
    test("tells the call under the pointer, and keeps the one that is clicked", async () => {
        const { page } = await openPage("checkpoints", {
            hash: "#timeline?from=60&to=61&rank=3",
        });
        await nextFrame(page);
        const box = (await canvas(page).boundingBox())!;
        // Rank 3 is the third of five rows, HDF5 the first of its four strips.
        const at = {
            x: box.x + box.width / 2,
            y: box.y + box.height * (0.4 + 0.2 / 8),
        };
        await page.mouse.move(at.x, at.y);
        await page.locator(".tip").waitFor({ state: "visible" });
        const tip = await page.locator(".tip").innerText();
        expect(tip).toContain("H5Dwrite");
        expect(tip).toContain("rank 3 on node001");
        expect(tip).toContain("sedov_hdf5_chk_0002");
        await page.mouse.click(at.x, at.y);
        expect(await page.locator(".call-panel h3").innerText()).toBe("H5Dwrite");
        expect(await page.locator(".call-panel a").innerText()).toBe("The 21 calls it was made of");
        await page.context().close();
    });

    test("shows only the levels that are chosen", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "timeline");
        const all = await painted(page);
        for (const level of ["HDF5", "MPI-IO", "POSIX"]) await page.getByLabel(level, { exact: true }).uncheck();
        await nextFrame(page);
        const log = await painted(page);
        expect(log).toBeGreaterThan(0);
        expect(log).toBeLessThan(all / 20);
        await page.context().close();
    });

    test("finds the calls on a file", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "timeline");
        await page.fill("#timeline-file", "chk_0002");
        await nextFrame(page);
        expect(await page.locator(".toolbar .status").innerText()).toBe("1 file, 14,080 calls");
        await page.fill("#timeline-file", "no such file");
        await nextFrame(page);
        expect(await page.locator(".toolbar .status").innerText()).toBe("0 files, 0 calls");
        await page.context().close();
    });

    test("says which calls are summed up, and what a sum holds", async () => {
        const { page } = await openPage("summed", {
            hash: "#timeline?from=20&to=20.5&rank=0",
        });
        await nextFrame(page);
        expect(await page.locator("#panel-timeline .note").innerText()).toMatch(
            /107,\d{3} calls shorter than \d+ ms are summed up/,
        );
        const box = (await canvas(page).boundingBox())!;
        // Rank 0 is the first of three rows, POSIX the last of its strips.
        const y = box.y + box.height * (1 / 3 - 1 / 24);
        await page.mouse.move(box.x + box.width / 2, y);
        await page.locator(".tip").waitFor({ state: "visible" });
        expect(await page.locator(".tip").innerText()).toMatch(/\d+ calls?\s/);
        expect(await page.locator(".tip").innerText()).toContain("each shorter than");
        await page.context().close();
    });
});
