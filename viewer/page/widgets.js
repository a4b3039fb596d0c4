// Small controls made of plain HTML. Each has an accessible name, tells what was chosen, and takes what the program says
// without telling it back. One that is being moved is left alone for a moment.

const HANDS_OFF = 400; // ms

export function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name in element && name !== "list") element[name] = value;
        else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
}

// At most one call in each picture: the newest values count.
export function throttled(call) {
    let waiting = null;
    return (...values) => {
        if (!waiting) requestAnimationFrame(() => (call(...waiting), (waiting = null)));
        waiting = values;
    };
}

// `log`: the slider's numbers are powers of ten. `format(value)`: the text beside it, which is a field for numbers: they may
// lie beyond the slider's ends, and the program refuses what it cannot do. `unit`: of typed numbers, for 1 in the program.
export function slider({ name, key, low, high, step, log, format, unit = 1, chosen }) {
    const from = (value) => (log ? Math.log10(value) : value);
    const to = (position) => (log ? 10 ** position : position);
    const input = make("input", { type: "range", min: from(low), max: from(high), step, "aria-label": name });
    const tell = throttled(chosen);
    let touched = -Infinity, current = low;
    const field = numberField({ name, read: () => current * unit, chosen: (typed) => take(typed / unit) });
    const show = (words) => {
        field.show(words);
        input.setAttribute("aria-valuetext", words);
    };
    const take = (value) => {
        current = value;
        input.value = from(log ? Math.max(low, value) : value);
        touched = performance.now();
        show(format(value));
        tell(value);
    };
    const move = (position) => {
        input.value = position;
        take(to(Number(input.value)));
    };
    input.addEventListener("input", () => move(Number(input.value)));
    return {
        element: make("label", { className: "row", title: withKey(name, key) }, make("span", { textContent: name }), input, field.element),
        input,
        field: field.element,
        set(value, words = format(value)) {
            if (performance.now() - touched < HANDS_OFF || !Number.isFinite(value)) return;
            current = value;
            input.value = from(Math.max(low, value));
            show(words);
        },
        // By a key: a twentieth of the way, up or down. One that is disabled stays, and the program says why.
        nudge: (sign) => (input.disabled ? tell(to(Number(input.value))) : move(Number(input.value) + (sign * (from(high) - from(low))) / 20)),
        get value() { return current; },
        enable(on) { input.disabled = field.element.disabled = !on; },
    };
}

// A text that becomes a number to be changed when somebody goes into it. Enter takes it, Escape leaves it.
function numberField({ name, read, chosen }) {
    let words = "", edited = false;
    const element = make("input", { type: "text", className: "value", inputMode: "decimal", "aria-label": `${name}, as a number`, autocomplete: "off", spellcheck: false });
    const leave = () => {
        edited = false;
        element.value = words;
        element.classList.remove("wrong");
    };
    const take = () => {
        const typed = Number(element.value.trim().replace(",", "."));
        if (!edited) return leave();
        if (element.value.trim() === "" || !Number.isFinite(typed)) return element.classList.add("wrong"); // and may be mended
        leave();
        chosen(typed);
    };
    element.addEventListener("focus", () => {
        if (edited) return; // on a busy machine the event may come after the first letters
        element.value = String(Number(read().toPrecision(6)));
        element.select();
    });
    element.addEventListener("input", () => (edited = true));
    element.addEventListener("blur", () => (take(), leave()));
    element.addEventListener("keydown", ({ key }) => {
        if (key === "Escape") edited = false;
        if (key === "Enter" || key === "Escape") take(), element.blur();
    });
    return {
        element,
        show(text) {
            words = text;
            if (document.activeElement !== element) element.value = text;
        },
    };
}

// choices: [[value, label], ...]
export function select({ name, key, choices = [], chosen }) {
    const list = make("select", { "aria-label": name, onchange: () => chosen(list.value) });
    const control = {
        element: make("label", { className: "row", title: withKey(name, key) }, make("span", { textContent: name }), list),
        input: list,
        offer(offered) {
            const now = list.value;
            list.replaceChildren(...offered.map(([value, label]) => make("option", { value, textContent: label })));
            if (offered.some(([value]) => value === now)) list.value = now;
            control.enable(offered.length > 1);
        },
        set(value) {
            if (value == null || list.value === value) return;
            if (![...list.options].some((option) => option.value === value)) list.append(make("option", { value, textContent: value }));
            list.value = value;
        },
        next(sign = 1) {
            if (list.disabled || !list.options.length) return;
            list.selectedIndex = (list.selectedIndex + sign + list.options.length) % list.options.length;
            chosen(list.value);
        },
        get value() { return list.value; },
        enable(on) { list.disabled = !on; },
    };
    control.offer(choices);
    return control;
}

export function toggle({ name, key, chosen }) {
    const box = make("input", { type: "checkbox", "aria-label": name, onchange: () => chosen(box.checked) });
    return {
        element: make("label", { className: "row check", title: withKey(name, key) }, make("span", { textContent: name }), box),
        input: box,
        set(on) { box.checked = Boolean(on); },
        flip() { if (!box.disabled) box.checked = !box.checked, chosen(box.checked); },
        get value() { return box.checked; },
        enable(on) { box.disabled = !on; },
    };
}

export function button({ name, key, text = name, chosen, className = "" }) {
    return make("button", { type: "button", className, textContent: text, title: withKey(name, key), "aria-label": name, onclick: chosen });
}

// A section that folds; whether it is open is remembered.
export function section(title, open, ...children) {
    const kept = remembered(`section ${title}`);
    const element = make("details", { open: kept === null ? open : kept === "open" }, make("summary", { textContent: title }), ...children);
    element.addEventListener("toggle", () => remember(`section ${title}`, element.open ? "open" : "closed"));
    return element;
}

export function remember(what, value) {
    try {
        localStorage.setItem(`bough ${what}`, value);
    } catch {
        // Private windows may refuse it: then nothing is remembered.
    }
}

export function remembered(what) {
    try {
        return localStorage.getItem(`bough ${what}`);
    } catch {
        return null;
    }
}

function withKey(name, key) {
    return key ? `${name} (${key})` : name;
}
