// The first script of a page that `bough export` wrote. The page holds a bundle, gzip in base64: the length of a list, the
// list (JSON: scene, title, paused, files with name and size), and the bytes of the files, one after the other. Modules
// become blobs, in which they name each other by the addresses of these.
(async () => {
    const say = (text) => {
        const note = document.createElement("p");
        note.style.cssText = "position:fixed;inset:auto 1rem 1rem;padding:1rem;background:#822;color:#fff;z-index:9";
        note.textContent = text;
        document.body.append(note);
    };
    try {
        if (!globalThis.DecompressionStream) throw new Error("this browser is too old: it cannot unpack the scene");
        const element = document.getElementById("bundle");
        const packed = await (await fetch(`data:application/octet-stream;base64,${element.textContent.trim()}`)).blob();
        element.remove();
        const bytes = new Uint8Array(await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
        const length = new DataView(bytes.buffer).getUint32(0, true);
        const list = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
        const files = new Map();
        let at = 4 + length;
        for (const { name, size } of list.files) files.set(name, bytes.subarray(at, at += size));

        const addresses = new Map();
        const addressOf = (name) => {
            if (addresses.has(name)) return addresses.get(name);
            const text = new TextDecoder().decode(files.get(name));
            const linked = text.replace(/(\bfrom\s*|\bimport\s*)(["'])(\.{1,2}\/[^"']+)\2/g,
                (all, word, quote, path) => `${word}${quote}${addressOf(new URL(path, `x:/${name}`).pathname.slice(1))}${quote}`);
            const address = URL.createObjectURL(new Blob([linked], { type: "text/javascript" }));
            addresses.set(name, address);
            return address;
        };
        // A page from the disk may not start modules as workers: its two become one plain script.
        const plain = (name) => new TextDecoder().decode(files.get(name)).replace(/^import .*$/gm, "").replace(/^export /gm, "");
        const worker = new Blob([plain("page/wasi.js"), plain("page/worker.js")], { type: "text/javascript" });

        for (const [name, content] of files)
            if (name.endsWith(".css")) {
                const style = document.createElement("style");
                style.textContent = new TextDecoder().decode(content);
                document.head.append(style);
            }
        const inScene = [...files].filter(([name]) => name.startsWith("scene/")).map(([name, content]) => [name.slice("scene".length), content.slice()]);
        globalThis.boughBundle = { program: files.get("page.wasm").slice(), files: inScene, scene: list.scene, paused: list.paused, worker: URL.createObjectURL(worker) };
        await import(addressOf("page/main.js"));
    } catch (error) {
        say(`This page could not be started: ${error.message}.`);
    }
})();
