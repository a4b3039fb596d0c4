// A system for a WebAssembly program in the browser: files that live in memory, clocks, and a console. WASI preview 1, as
// far as Bough calls it; https://github.com/WebAssembly/WASI tells what the functions are.

const OK = 0, BAD_FILE = 8, EXISTS = 20, NOT_A_FOLDER = 54, NO_ENTRY = 44, NOT_EMPTY = 55, NOT_SUPPORTED = 58;
const FOLDER = 3, FILE = 4, CONSOLE = 2;
const ROOT = 3;                             // the first handle after the three of the console
const CREATE = 1, MUST_BE_FOLDER = 2, EXCLUSIVE = 4, TRUNCATE = 8;

export class Exit extends Error {}

export class System {
    // files: a Map from paths ("/scene.json") to bytes; write(text) takes what is printed
    constructor(files, write) {
        this.files = new Map();
        this.folders = new Set(["/"]);
        this.open = new Map([[ROOT, { path: "/" }]]);
        this.next = ROOT + 1;
        this.write = write;
        for (const [path, bytes] of files) this.#put(path, { bytes, size: bytes.length });
        // What is not here answers that there is no such thing.
        this.imports = new Proxy(this.#functions(), { get: (functions, name) => functions[name] ?? (() => NOT_SUPPORTED) });
    }

    // The memory of the program, once it was made.
    attach(memory) {
        this.memory = memory;
    }

    #put(path, file) {
        this.files.set(path, file);
        for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) this.folders.add(path.slice(0, at));
    }

    get #view() {
        return new DataView(this.memory.buffer);
    }

    #path(handle, at, length) {
        const name = new TextDecoder().decode(new Uint8Array(this.memory.buffer, at, length));
        const parts = [];
        for (const part of `${this.open.get(handle)?.path ?? "/"}/${name}`.split("/"))
            if (part === "..") parts.pop();
            else if (part !== "" && part !== ".") parts.push(part);
        return `/${parts.join("/")}`;
    }

    #writeStat(at, kind, size) {
        const view = this.#view;
        new Uint8Array(this.memory.buffer, at, 64).fill(0);
        view.setUint8(at + 16, kind);
        view.setBigUint64(at + 24, 1n, true);
        view.setBigUint64(at + 32, BigInt(size), true);
    }

    // Calls each(offset, length) for the pieces of a vector of buffers, until it returns less than the length.
    #eachPiece(list, count, each) {
        let total = 0;
        for (let i = 0; i < count; i++) {
            const view = this.#view, at = view.getUint32(list + 8 * i, true), length = view.getUint32(list + 8 * i + 4, true);
            const done = each(at, length);
            total += done;
            if (done < length) break;
        }
        return total;
    }

    #read(handle, list, count, result) {
        const open = this.open.get(handle);
        if (!open?.file) return BAD_FILE;
        const total = this.#eachPiece(list, count, (at, length) => {
            const some = open.file.bytes.subarray(open.at, Math.min(open.at + length, open.file.size));
            new Uint8Array(this.memory.buffer, at, some.length).set(some);
            open.at += some.length;
            return some.length;
        });
        this.#view.setUint32(result, total, true);
        return OK;
    }

    #grow(file, size) {
        if (size > file.bytes.length) {
            const larger = new Uint8Array(Math.max(size, 2 * file.bytes.length));
            larger.set(file.bytes.subarray(0, file.size));
            file.bytes = larger;
        }
        file.size = Math.max(file.size, size);
    }

    #print(handle, list, count, result) {
        const open = this.open.get(handle);
        if (!open?.file && handle > 2) return BAD_FILE;
        const total = this.#eachPiece(list, count, (at, length) => {
            const some = new Uint8Array(this.memory.buffer, at, length);
            if (handle <= 2) {
                this.write(new TextDecoder().decode(some.slice()));
                return length;
            }
            this.#grow(open.file, open.at + length);
            open.file.bytes.set(some, open.at);
            open.at += length;
            return length;
        });
        this.#view.setUint32(result, total, true);
        return OK;
    }

    #openPath(path, flags, result) {
        let file = this.files.get(path);
        if (file && flags & EXCLUSIVE) return EXISTS;
        if (file && flags & MUST_BE_FOLDER) return NOT_A_FOLDER;
        if (!file && !this.folders.has(path)) {
            if (!(flags & CREATE)) return NO_ENTRY;
            this.#put(path, file = { bytes: new Uint8Array(0), size: 0 });
        }
        if (file && flags & TRUNCATE) file.size = 0;
        this.open.set(this.next, { path, file, at: 0 });
        this.#view.setUint32(result, this.next++, true);
        return OK;
    }

    #seek(handle, offset, from, result) {
        const open = this.open.get(handle);
        if (!open?.file) return BAD_FILE;
        open.at = Number(offset) + (from === 0 ? 0 : from === 1 ? open.at : open.file.size);
        this.#view.setBigUint64(result, BigInt(open.at), true);
        return OK;
    }

    #stat(path, at) {
        const file = this.files.get(path);
        if (!file && !this.folders.has(path)) return NO_ENTRY;
        this.#writeStat(at, file ? FILE : FOLDER, file?.size ?? 0);
        return OK;
    }

    #rename(from, to) {
        const file = this.files.get(from);
        if (!file) return NO_ENTRY;
        this.files.delete(from);
        this.#put(to, file);
        return OK;
    }

    #functions() {
        const none = () => OK;
        return {
            environ_sizes_get: (count, size) => (this.#view.setUint32(count, 0, true), this.#view.setUint32(size, 0, true), OK),
            environ_get: none, args_get: none, fd_sync: none, fd_datasync: none, fd_advise: none, sched_yield: none, fd_fdstat_set_flags: none,
            args_sizes_get: (count, size) => (this.#view.setUint32(count, 0, true), this.#view.setUint32(size, 0, true), OK),
            clock_time_get: (clock, precision, result) => {
                const ms = clock === 0 ? Date.now() : performance.now();
                this.#view.setBigUint64(result, BigInt(Math.round(1e6 * ms)), true);
                return OK;
            },
            random_get: (at, size) => (crypto.getRandomValues(new Uint8Array(this.memory.buffer, at, size)), OK),
            proc_exit: (code) => {
                throw new Exit(`the program ended (${code})`);
            },
            fd_prestat_get: (handle, at) => {
                if (handle !== ROOT) return BAD_FILE;
                this.#view.setUint32(at, 0, true);
                this.#view.setUint32(at + 4, 1, true);
                return OK;
            },
            fd_prestat_dir_name: (handle, at) => (this.#view.setUint8(at, "/".charCodeAt(0)), OK),
            fd_fdstat_get: (handle, at) => {
                const open = this.open.get(handle);
                if (!open && handle > 2) return BAD_FILE;
                new Uint8Array(this.memory.buffer, at, 24).fill(0);
                this.#view.setUint8(at, !open ? CONSOLE : open.file ? FILE : FOLDER);
                this.#view.setBigUint64(at + 8, ~0n, true);
                this.#view.setBigUint64(at + 16, ~0n, true);
                return OK;
            },
            fd_filestat_get: (handle, at) => {
                const open = this.open.get(handle);
                if (!open) return BAD_FILE;
                this.#writeStat(at, open.file ? FILE : FOLDER, open.file?.size ?? 0);
                return OK;
            },
            fd_close: (handle) => (this.open.delete(handle) ? OK : BAD_FILE),
            fd_read: (handle, list, count, result) => this.#read(handle, list, count, result),
            fd_write: (handle, list, count, result) => this.#print(handle, list, count, result),
            fd_seek: (handle, offset, from, result) => this.#seek(handle, offset, from, result),
            fd_tell: (handle, result) => this.#seek(handle, 0n, 1, result),
            fd_readdir: (handle, at, size, cookie, result) => (this.#view.setUint32(result, 0, true), OK), // nobody looks for files
            path_open: (handle, look, at, length, flags, rights, inherited, how, result) => this.#openPath(this.#path(handle, at, length), flags, result),
            path_filestat_get: (handle, look, at, length, result) => this.#stat(this.#path(handle, at, length), result),
            path_create_directory: (handle, at, length) => (this.folders.add(this.#path(handle, at, length)), OK),
            path_unlink_file: (handle, at, length) => (this.files.delete(this.#path(handle, at, length)) ? OK : NO_ENTRY),
            path_remove_directory: () => NOT_EMPTY,
            path_rename: (handle, at, length, other, to, toLength) => this.#rename(this.#path(handle, at, length), this.#path(other, to, toLength)),
        };
    }
}
