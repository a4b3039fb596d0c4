// node layouts.mjs CLANG INCLUDE SYSTEM SOURCE... LAYOUTS.js EXPORTS.rsp: what the npm package knows of the public headers.
// The compiler says where the fields of structs lie, the headers themselves what values of enums are called. LAYOUTS.js gets
// the structs and enums whose names stand in the package's sources, with those that they hold, and what definitions point
// to; EXPORTS.rsp tells the linker which functions these sources call.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const [clang, include, system, ...files] = process.argv.slice(2);
const exportsFile = files.pop(), layoutsFile = files.pop();
const headers = "#include <bough/mechanism.h>\n#include <bough/multibody.h>\n#include <bough/tree.h>\n";
const compile = (...options) =>
    execFileSync(clang, ["--target=wasm32-wasi", "-isystem", system, "-I", include, "-x", "c", ...options, "-"], { input: headers, encoding: "utf8", maxBuffer: 1 << 26 });

const named = new Set(files.flatMap((file) => readFileSync(file, "utf8").match(/\bbough_\w+/g) ?? []));

// "double[3]", "const double *", "struct bough_pose", ...: the type, how many of it, and how many pointers lead there.
function parse(text) {
    const pointers = text.includes("(*)") ? 1 : text.split("*").length - 1;
    const type = text.includes("(*)") ? "function" : text.replace(/\b(const|struct|enum) /g, "").match(/^\w+/)[0];
    return { type, count: Number(text.match(/\[(\d+)\]$/)?.[1] ?? 0), pointers };
}

// Each field: [offset, type, count (0: it is no array), pointers].
const structs = new Map();
for (const dump of compile("-fsyntax-only", "-Xclang", "-fdump-record-layouts-complete").split("*** Dumping AST Record Layout")) {
    const name = dump.match(/^\s*0 \| struct (bough_\w+)$/m)?.[1];
    if (!name) continue;
    const fields = Object.fromEntries([...dump.matchAll(/^ *(\d+) \| {3}(\S.*) (\w+)$/gm)].map(([, offset, text, field]) => {
        const { type, count, pointers } = parse(text);
        return [field, [Number(offset), type, count, pointers]];
    }));
    structs.set(name, { size: Number(dump.match(/\[sizeof=(\d+)/)[1]), fields });
}

// Words of an enum: its names without what all of them begin with, and without the number of them at its end.
const source = compile("-E", "-P"), enums = new Map();
for (const [, body, name] of source.matchAll(/typedef enum bough_\w+ \{([^}]*)\} (bough_\w+);/g)) {
    if (body.includes("=")) continue; // values that are no row of numbers
    const names = body.split(",").map((one) => one.trim()).filter((one) => one !== "" && !one.endsWith("_COUNT"));
    const parts = names.map((one) => one.split("_"));
    let common = 0;
    while (parts.every((one) => one.length > common + 1 && one[common] === parts[0][common])) common++;
    enums.set(name, parts.map((one) => one.slice(common).join("-").toLowerCase()));
}

const wantedStructs = {}, wantedEnums = {};
function want(name) {
    if (enums.has(name)) wantedEnums[name] = enums.get(name);
    if (!structs.has(name) || wantedStructs[name]) return;
    wantedStructs[name] = structs.get(name);
    for (const [, type, , pointers] of Object.values(structs.get(name).fields)) if (pointers === 0 || /_def$/.test(name)) want(type);
}
for (const name of [...named].sort()) want(name);

const list = (name, values) => `export const ${name} = {\n${Object.entries(values).map(([key, value]) => `    ${key}: ${JSON.stringify(value)},\n`).join("")}};\n`;
writeFileSync(layoutsFile, `// Made by layouts.mjs of Bough's public headers: structs with their fields (offset, type, count, pointers), and enums.\n\n${list("STRUCTS", wantedStructs)}\n${list("ENUMS", wantedEnums)}`);

const functions = new Set([...source.matchAll(/\b(bough_\w+)\(/g)].map(([, name]) => name));
const defaults = Object.keys(wantedStructs).map((name) => name.replace("bough_", "bough_default_"));
const called = [...named, ...defaults].filter((name) => functions.has(name));
writeFileSync(exportsFile, ["malloc", "free", ...new Set(called)].map((name) => `-Wl,--export=${name}\n`).join(""));
