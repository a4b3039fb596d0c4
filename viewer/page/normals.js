// Normals of a surface, as area vectors: the sum over a vertex's triangles of (b - a) x (c - a), of which only the
// direction counts.

export function areaVectors(position, index, out = new Float32Array(position.length)) {
    out.fill(0);
    for (let t = 0; t < index.length; t += 3) {
        const i = 3 * index[t], j = 3 * index[t + 1], k = 3 * index[t + 2];
        const ux = position[j] - position[i], uy = position[j + 1] - position[i + 1], uz = position[j + 2] - position[i + 2];
        const vx = position[k] - position[i], vy = position[k + 1] - position[i + 1], vz = position[k + 2] - position[i + 2];
        const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
        out[i] += x, out[i + 1] += y, out[i + 2] += z;
        out[j] += x, out[j + 1] += y, out[j + 2] += z;
        out[k] += x, out[k + 1] += y, out[k + 2] += z;
    }
    return out;
}

// The area vectors of X + sum_l q_l U_l are linear in q but for products of two q, which are left out:
// n = N0 + sum_l q_l N_l with N_l = sum of (Ub - Ua) x (c - a) + (b - a) x (Uc - Ua). Laid out as U: r x 3 a vertex.
export function linearNormals(position, U, r, index) {
    const out = new Float32Array(r * position.length);
    const at = (vertex, l) => 3 * (vertex * r + l);
    for (let t = 0; t < index.length; t += 3) {
        const a = index[t], b = index[t + 1], c = index[t + 2];
        const ux = position[3 * b] - position[3 * a], uy = position[3 * b + 1] - position[3 * a + 1],
            uz = position[3 * b + 2] - position[3 * a + 2];
        const vx = position[3 * c] - position[3 * a], vy = position[3 * c + 1] - position[3 * a + 1],
            vz = position[3 * c + 2] - position[3 * a + 2];
        for (let l = 0; l < r; l++) {
            const i = at(a, l), j = at(b, l), k = at(c, l);
            const dux = U[j] - U[i], duy = U[j + 1] - U[i + 1], duz = U[j + 2] - U[i + 2];
            const dvx = U[k] - U[i], dvy = U[k + 1] - U[i + 1], dvz = U[k + 2] - U[i + 2];
            const x = duy * vz - duz * vy + uy * dvz - uz * dvy;
            const y = duz * vx - dux * vz + uz * dvx - ux * dvz;
            const z = dux * vy - duy * vx + ux * dvy - uy * dvx;
            out[i] += x, out[i + 1] += y, out[i + 2] += z;
            out[j] += x, out[j + 1] += y, out[j + 2] += z;
            out[k] += x, out[k + 1] += y, out[k + 2] += z;
        }
    }
    return out;
}
