// In place of the connection to a program, in a page that `bough export` wrote: the engine runs in a worker of the page.

export class Engine {
    // bundle: what unpack.js found in the page; handlers as those of Socket
    constructor(bundle, handlers) {
        this.isOpen = false;
        handlers.state("connecting", "Starting …");
        this.worker = new Worker(bundle.worker);
        this.worker.onmessage = ({ data }) => {
            if (data.state) {
                this.isOpen = data.state === "open";
                handlers.state(data.state, data.sentence);
            } else handlers.message(data.data);
        };
        this.worker.onerror = (event) => handlers.state("refused", `The engine of this page could not be started: ${event.message ?? "the browser refused it"}.`);
        this.worker.postMessage({ begin: { program: bundle.program, files: bundle.files, scene: bundle.scene, paused: bundle.paused } });
    }

    // False: nobody is there to hear it.
    send(command) {
        if (this.isOpen) this.worker.postMessage({ say: JSON.stringify(command) });
        return this.isOpen;
    }
}
