// Sharp edges stay sharp: a vertex at which smooth pieces of the surface meet at an angle is drawn once for each piece,
// with a normal of its own. Which pieces there are is decided at rest.

export const CREASE = 1.2; // rad: as in pictures; rods of six sides are still round
const LARGE_FAN = 64;      // triangles at a vertex beyond which creases are not looked for: the work is quadratic

// Normals of the triangles, each of length 1 (or 0).
function faceNormals(position, index) {
    const out = new Float32Array(index.length);
    for (let t = 0; t < index.length; t += 3) {
        const i = 3 * index[t], j = 3 * index[t + 1], k = 3 * index[t + 2];
        const ux = position[j] - position[i], uy = position[j + 1] - position[i + 1], uz = position[j + 2] - position[i + 2];
        const vx = position[k] - position[i], vy = position[k + 1] - position[i + 1], vz = position[k + 2] - position[i + 2];
        const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
        const size = Math.hypot(x, y, z) || 1;
        out[t] = x / size, out[t + 1] = y / size, out[t + 2] = z / size;
    }
    return out;
}

// Corners of each vertex, one after the other; first[v] .. first[v + 1] are those of v.
function cornersOf(index, vertices) {
    const first = new Uint32Array(vertices + 1), corners = new Uint32Array(index.length);
    for (const v of index) first[v + 1]++;
    for (let v = 0; v < vertices; v++) first[v + 1] += first[v];
    const next = first.slice(0, vertices);
    for (let c = 0; c < index.length; c++) corners[next[index[c]]++] = c;
    return { first, corners };
}

// Which piece each corner of a fan belongs to, counted from 0: triangles that share an edge are of one piece when their
// normals differ by less than the crease angle.
function pieces(fan, index, normals, cosine) {
    const piece = fan.map((_, i) => i);
    const root = (i) => {
        while (piece[i] !== i) i = piece[i];
        return i;
    };
    const others = fan.map((c) => [index[c - (c % 3) + ((c + 1) % 3)], index[c - (c % 3) + ((c + 2) % 3)]]);
    for (let i = 0; i < fan.length; i++)
        for (let j = 0; j < i; j++) {
            const [a, b] = others[i], [c, d] = others[j], s = fan[i] - (fan[i] % 3), t = fan[j] - (fan[j] % 3);
            if (a !== c && a !== d && b !== c && b !== d) continue;
            const dot = normals[s] * normals[t] + normals[s + 1] * normals[t + 1] + normals[s + 2] * normals[t + 2];
            if (dot >= cosine) piece[root(i)] = root(j);
        }
    const numbers = new Map();
    return fan.map((_, i) => {
        const r = root(i);
        if (!numbers.has(r)) numbers.set(r, numbers.size);
        return numbers.get(r);
    });
}

// The surface as it is drawn: `index` names vertices, or from `from` on further copies of them; `base` has the vertex that
// each copy stands at.
export function splitCreases({ position, index, vertices }, from, angle = CREASE) {
    const normals = faceNormals(position, index), { first, corners } = cornersOf(index, vertices);
    const drawn = index.slice(), base = [], cosine = Math.cos(angle), half = Math.cos(angle / 2);
    // Most vertices are in the middle of a smooth piece: all its normals are near to one of them, and so to each other.
    const isSmooth = (from, to) => {
        const s = corners[from] - (corners[from] % 3), x = normals[s], y = normals[s + 1], z = normals[s + 2];
        for (let i = from + 1; i < to; i++) {
            const t = corners[i] - (corners[i] % 3);
            if (x * normals[t] + y * normals[t + 1] + z * normals[t + 2] < half) return false;
        }
        return true;
    };
    for (let v = 0; v < vertices; v++) {
        const count = first[v + 1] - first[v];
        if (count < 2 || count > LARGE_FAN || isSmooth(first[v], first[v + 1])) continue;
        const fan = [...corners.subarray(first[v], first[v + 1])];
        const piece = pieces(fan, index, normals, cosine), most = Math.max(...piece);
        fan.forEach((corner, i) => piece[i] > 0 && (drawn[corner] = from + base.length + piece[i] - 1));
        for (let k = 0; k < most; k++) base.push(v);
    }
    return { index: drawn, from, base: Uint32Array.from(base) };
}

// All vertices as they are drawn, `size` numbers each: those of the mesh that are, then the copies.
export function spread({ from, base }, numbers, size, out = new numbers.constructor(size * (from + base.length))) {
    out.set(numbers.subarray(0, size * from));
    for (let i = 0; i < base.length; i++)
        for (let c = 0; c < size; c++) out[size * (from + i) + c] = numbers[size * base[i] + c];
    return out;
}
