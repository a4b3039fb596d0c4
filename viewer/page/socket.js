// The connection to the program: comes back by itself when it was lost, and says how it stands.

const WAITS = [500, 1000, 2000, 4000]; // ms before it is tried again

export class Socket {
    // handlers: message(data), state("connecting" | "open" | "lost" | "refused", sentence)
    constructor(token, handlers) {
        this.token = token;
        this.handlers = handlers;
        this.tries = 0;
        this.open();
    }

    open() {
        clearTimeout(this.timer);
        this.handlers.state("connecting", "Connecting …");
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        const socket = new WebSocket(`${scheme}//${location.host}/socket?token=${encodeURIComponent(this.token)}`, "bough.1");
        socket.binaryType = "arraybuffer";
        this.socket = socket;
        socket.onopen = () => {
            this.tries = 0;
            this.handlers.state("open", "Connected");
        };
        socket.onmessage = ({ data }) => this.handlers.message(data);
        socket.onclose = (event) => socket === this.socket && this.#lost(event);
    }

    // A browser does not tell why a connection was refused: the page's own address is asked with the same token.
    async #lost({ reason }) {
        let why = reason ? `The program closed the connection: ${reason}.` : "The program does not answer.";
        try {
            const answer = await fetch(`/?token=${encodeURIComponent(this.token)}`, { cache: "no-store" });
            if (answer.status === 401 || answer.status === 403) {
                this.handlers.state("refused",
                    "The token in this page's address is not that of the running program. Open the address that bough view printed.");
                return;
            }
            if (answer.ok && !reason) why = "The connection was lost, or too many viewers are connected.";
        } catch {
            // Nobody listens there: the sentence above says it.
        }
        const wait = WAITS[Math.min(this.tries++, WAITS.length - 1)];
        this.handlers.state("lost", `${why} Trying again …`);
        this.timer = setTimeout(() => this.open(), wait);
    }

    get isOpen() {
        return this.socket.readyState === WebSocket.OPEN;
    }

    // False: nobody is there to hear it.
    send(command) {
        if (!this.isOpen) return false;
        this.socket.send(JSON.stringify(command));
        return true;
    }
}
