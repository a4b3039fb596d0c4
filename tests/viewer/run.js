// Runs *.test.js of this folder, one after the other, and closes with counts in cmocka's form, which tools/run_tests.sh
// adds up.

import { readdirSync } from "node:fs";
import { run } from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(here).filter((name) => name.endsWith(".test.js")).map((name) => here + name);
const counts = { pass: 0, fail: 0 };

// A file is told of as a test too; what counts are the tests in it, or the file when it has none.
const isFile = ({ name }) => name.endsWith(".test.js");

run({ files, concurrency: 1 })
    .on("test:pass", (data) => {
        if (isFile(data)) return;
        counts.pass++;
        console.log(`[       OK ] ${data.name} (${Math.round(data.details.duration_ms)} ms)`);
    })
    .on("test:fail", (data) => {
        if (isFile(data) && counts.fail > 0) return;
        counts.fail++;
        console.log(`[  FAILED  ] ${data.name}`);
        console.log(data.details.error?.cause?.stack ?? data.details.error);
    })
    .on("test:stderr", ({ message }) => process.stderr.write(message))
    .on("end", () => {
        console.log(`[  PASSED  ] ${counts.pass} test(s).`);
        if (counts.fail) console.log(`[  FAILED  ] ${counts.fail} test(s).`);
        process.exitCode = counts.fail ? 1 : 0;
    })
    .resume();
