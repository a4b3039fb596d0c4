// The last seconds as they were seen, to look back at: copies of what moves in each layer, a frame every so often.

const SECONDS = 20;   // of simulated time that are kept
const EVERY = 1 / 30; // s: frames that come sooner after another are not kept
const BYTES = 96e6;   // that all of it may take

export class History {
    constructor(layers) {
        this.layers = layers;
        this.kept = layers.map(() => []); // of each layer: {time, frames, q, stream, jointNumbers, contactNumbers}, in order of time
        const bytes = layers.reduce((sum, { frames, q, stream, jointNumbers }) => sum + 4 * (frames.length + q.length + stream.length + jointNumbers.length), 1);
        this.most = Math.max(2, Math.min(SECONDS / EVERY, Math.floor(BYTES / bytes)));
        this.every = Math.max(EVERY, SECONDS / this.most);
        this.now = null; // copies of the present while somebody looks back
    }

    get looking() {
        return this.now !== null;
    }

    // A frame of a layer comes: apply() puts it into the layer, which keeps showing the past while somebody looks at that.
    receive(number, apply) {
        const layer = this.layers[number], past = this.now && copy(layer);
        if (past) put(layer, this.now[number]);
        apply();
        this.#take(number);
        if (!past) return;
        this.now[number] = copy(layer);
        put(layer, past);
    }

    #take(number) {
        const layer = this.layers[number], list = this.kept[number];
        while (list.length && list[list.length - 1].time >= layer.time) list.pop(); // time went back
        if (list.length && layer.time - list[list.length - 1].time < 0.99 * this.every) return;
        list.push(copy(layer));
        while (list.length > this.most || layer.time - list[0].time > SECONDS) list.shift();
    }

    get from() {
        return this.kept[0]?.[0]?.time ?? null;
    }

    get to() {
        return this.now ? this.now[0].time : this.layers[0].time;
    }

    // All layers as they were at about that time. The time that it is.
    look(time) {
        this.now ??= this.layers.map(copy);
        this.layers.forEach((layer, i) => {
            const list = [...this.kept[i], this.now[i]];
            put(layer, list.reduce((best, each) => (Math.abs(each.time - time) < Math.abs(best.time - time) ? each : best)));
        });
        return this.layers[0].time;
    }

    // As they are now. Tells whether somebody had looked back.
    leave() {
        if (!this.now) return false;
        this.layers.forEach((layer, i) => put(layer, this.now[i]));
        this.now = null;
        return true;
    }
}

const copy = ({ time, frames, q, stream, jointNumbers, contactNumbers }) =>
    ({ time, frames: frames.slice(), q: q.slice(), stream: stream.slice(), jointNumbers: jointNumbers.slice(), contactNumbers }); // contacts come anew with each frame

function put(layer, from) {
    layer.frames.set(from.frames);
    layer.q.set(from.q);
    layer.stream.set(from.stream);
    layer.jointNumbers.set(from.jointNumbers);
    layer.contactNumbers = from.contactNumbers;
    layer.time = from.time;
}
