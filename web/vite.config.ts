import { fileURLToPath } from "node:url";
import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
    plugins: [viteSingleFile({ removeViteModuleLoader: true })],
    build: { target: "es2022", outDir: here("../build/web"), emptyOutDir: true, chunkSizeWarningLimit: 2000 },
    // The tests lie beside those of the other rooms, away from node_modules.
    resolve: { alias: { "playwright-core": here("node_modules/playwright-core/index.mjs") } },
    server: { fs: { allow: [here("..")] } },
    test: {
        root: here(".."),
        include: ["tests/web/**/*.test.ts"],
        globalSetup: "tests/web/pages.setup.ts",
        // The pages of the browser's tests take turns: two cores draw one of them quickly, four of them slowly.
        fileParallelism: false,
        testTimeout: 120_000,
        hookTimeout: 240_000,
    },
});
