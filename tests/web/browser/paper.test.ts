import { afterAll, expect, test } from "vitest";
import { closeBrowser, describeInBrowser, nextFrame, openPage, visit } from "./page";

afterAll(closeBrowser);

const background = () => getComputedStyle(document.body).backgroundColor;
const WHITE = "rgb(255, 255, 255)";

describeInBrowser("colours", () => {
    test("follow the system until the reader chooses", async () => {
        const { page } = await openPage("checkpoints", { scheme: "dark" });
        await expect.poll(() => page.evaluate(background)).not.toBe(WHITE);
        await page.emulateMedia({ colorScheme: "light" });
        await expect.poll(() => page.evaluate(background)).toBe(WHITE);
        await page.click(".scheme");
        await expect.poll(() => page.evaluate(background)).not.toBe(WHITE);
        await page.emulateMedia({ colorScheme: "dark" });
        await page.click(".scheme");
        await expect.poll(() => page.evaluate(background)).toBe(WHITE);
        await page.context().close();
    });

    test("of charts and timeline change with the theme", async () => {
        const { page } = await openPage("checkpoints");
        const bars = () => page.locator("#panel-overview .chart svg").first().innerHTML();
        const light = await bars();
        await page.click(".scheme");
        expect(await bars()).not.toBe(light);
        await visit(page, "timeline");
        const pixel = () =>
            page.evaluate(() => {
                const canvas = document.querySelector<HTMLCanvasElement>(".stage > canvas")!;
                return [...canvas.getContext("2d")!.getImageData(canvas.width - 2, canvas.height - 2, 1, 1).data];
            });
        const dark = await pixel();
        await page.click(".scheme");
        await nextFrame(page);
        expect((await pixel())[0]).toBeGreaterThan(200);
        expect(dark[0]).toBeLessThan(60);
        await page.context().close();
    });
});

describeInBrowser("on paper", () => {
    test("all views are there, dark on light, and the screen is as before afterwards", async () => {
        const { page, complaints } = await openPage("checkpoints", {
            scheme: "dark",
        });
        await page.evaluate(() => {
            addEventListener("beforeprint", () => {
                const panels = [...document.querySelectorAll<HTMLElement>("[role=tabpanel]")];
                const state = {
                    shown: panels.filter((panel) => panel.offsetHeight > 100).length,
                    background: getComputedStyle(document.body).backgroundColor,
                    charts: document.querySelectorAll(".chart-place svg, .chart-place canvas").length,
                    frames: Number(document.querySelector<HTMLElement>(".stage > canvas")?.dataset.frames ?? 0),
                };
                document.body.dataset.printed = JSON.stringify(state);
            });
        });
        const pdf = await page.pdf({ preferCSSPageSize: true });
        expect(pdf.length).toBeGreaterThan(80_000);
        const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? [];
        expect(pages.length).toBeGreaterThanOrEqual(7);
        const printed = JSON.parse((await page.locator("body").getAttribute("data-printed"))!) as Record<
            string,
            unknown
        >;
        expect(printed).toMatchObject({ shown: 8, background: WHITE });
        expect(printed.charts).toBeGreaterThanOrEqual(10);
        expect(printed.frames).toBeGreaterThanOrEqual(1);
        expect(await page.evaluate(background)).not.toBe(WHITE);
        expect(await page.locator("[role=tabpanel]:visible").count()).toBe(1);
        await visit(page, "timeline");
        const stage = (await page.locator(".stage").boundingBox())!;
        const axes = (await page.locator(".stage-axes canvas").first().boundingBox())!;
        expect(axes.width).toBe(stage.width);
        expect(complaints).toEqual([]);
        await page.context().close();
    });
});
