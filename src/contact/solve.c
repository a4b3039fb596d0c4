/* Projected Gauss-Seidel over G^T A^-1 G, held as rates of the groups. docs/theory/contact.md, "Impulses". */
#include "contact/solve.h"

#include "base/simd.h"

#include <string.h>

BO_INLINE bo_constraint *constraint_at(const bo_contact_problem *p, int32_t i) {
    return &p->constraints[p->order ? p->order[i] : i];
}

/* ---- one constraint ---- */

/* Sizes of the groups, where all are alike: loops of six, as of rigid bodies, are unrolled. */
enum { ANY_SIZE = 0, RIGID = 6 };

/* fmax() is a call, and these are millions. */
BO_INLINE double larger(double a, double b) {
    return b > a ? b : a;
}

BO_INLINE void rates_by(int32_t size, const bo_contact_problem *p, const bo_constraint *c, bool before, double v[3]) {
    memcpy(v, c->carried, sizeof c->carried);
    for (int s = 0; s < 2; s++) {
        if (c->groups[s] < 0)
            continue;
        const bo_group *g = &p->groups[c->groups[s]];
        const int32_t n = size != ANY_SIZE ? size : g->size;
        const double *J0 = p->rows + c->rows[s], *J1 = J0 + n, *J2 = J1 + n, *y = before ? g->before : g->y;
        double v0 = v[0], v1 = v[1], v2 = v[2]; /* sums side by side do not wait for each other */
        for (int32_t k = 0; k < n; k++)
            v0 += J0[k] * y[k], v1 += J1[k] * y[k], v2 += J2[k] * y[k];
        v[0] = v0, v[1] = v1, v[2] = v2;
    }
}

static void find_rates(const bo_contact_problem *p, const bo_constraint *c, bool before, double v[3]) {
    rates_by(ANY_SIZE, p, c, before, v);
}

BO_INLINE void apply_by(int32_t size, const bo_contact_problem *p, const bo_constraint *c, const double change[3]) {
    for (int s = 0; s < 2; s++) {
        if (c->groups[s] < 0)
            continue;
        const bo_group *g = &p->groups[c->groups[s]];
        const double *B = p->answers + c->rows[s];
        const int32_t n = size != ANY_SIZE ? size : g->size;
        for (int32_t k = 0; k < n; k++)
            g->y[k] += B[k] * change[0] + B[n + k] * change[1] + B[2 * n + k] * change[2];
    }
}

static void apply(const bo_contact_problem *p, const bo_constraint *c, const double change[3]) {
    apply_by(ANY_SIZE, p, c, change);
}

/* A^-1 J^T by rows. Sums of columns of the inverse, which is symmetric, for all three at once: that is read once, and
 * sums side by side need no order. */
BO_MULTIVERSION
static void answer(int32_t n, const double *inverse, const double *J, double *restrict B) {
    double *restrict B1 = B + n, *restrict B2 = B1 + n;
    memset(B, 0, 3 * (size_t)n * sizeof *B);
    for (int32_t k = 0; k < n; k++, inverse += n)
        for (int32_t i = 0; i < n; i++) {
            B[i] += inverse[i] * J[k];
            B1[i] += inverse[i] * J[n + k];
            B2[i] += inverse[i] * J[2 * n + k];
        }
}

void bo_apply_inverse(int32_t n, const double *inverse, int32_t row_count, const double *rows, double *answers) {
    for (int32_t r = 0; r < row_count; r += 3)
        answer(n, inverse, rows + (ptrdiff_t)r * n, answers + (ptrdiff_t)r * n);
}

/* B = A^-1 J^T by rows, W = J B. Directions in which next to nothing moves have W = 0. */
static void prepare(bo_contact_problem *p, bo_constraint *c) {
    double least = 0;
    memset(c->W, 0, sizeof c->W);
    for (int s = 0; s < 2; s++) {
        if (c->groups[s] < 0)
            continue;
        const bo_group *g = &p->groups[c->groups[s]];
        const int32_t n = g->size;
        const double *J = p->rows + c->rows[s];
        double *B = p->answers + c->rows[s];
        if (g->inverse)
            answer(n, g->inverse, J, B);
        for (int r = 0; r < 3; r++)
            for (int q = 0; q < 3; q++)
                for (int32_t k = 0; k < n; k++)
                    c->W[3 * r + q] += J[r * n + k] * B[q * n + k];
        least = fmax(least, g->least);
    }
    for (int r = 0; r < 3; r++)
        if (!(c->W[4 * r] > least))
            c->W[3 * r] = c->W[3 * r + 1] = c->W[3 * r + 2] = c->W[r] = c->W[3 + r] = c->W[6 + r] = 0;
    const double a = c->W[4], b = c->W[5], d = c->W[8], determinant = a * d - b * b;
    const double softest = 0.5 * (a + d) + sqrt(0.25 * (a - d) * (a - d) + b * b);
    c->holds = determinant > 1e-12 * softest * softest;
    c->hold[0] = c->holds ? d / determinant : 0, c->hold[1] = c->holds ? -b / determinant : 0;
    c->hold[2] = c->holds ? a / determinant : 0;
    c->hardest = softest > 0 ? 1 / softest : 0;
    c->press = c->W[0] > 0 ? 1 / c->W[0] : 0;
}

BO_INLINE void limit_friction(double limit, double t[2]) {
    const double square = t[0] * t[0] + t[1] * t[1];
    if (square > limit * limit) {
        const double part = limit / sqrt(square);
        t[0] *= part, t[1] *= part;
    }
}

/* Impulses along the tangents that stop the rates v, if friction can. If not, a step against v by the softest direction
 * and back onto the disc: it stays where it is only when the impulse is against the rate. */
BO_INLINE void rub(const bo_constraint *c, const double v[3], double limit, double t[2]) {
    const double *hold = c->hold;
    t[0] = c->impulse[1], t[1] = c->impulse[2];
    if (!(c->hardest > 0))
        return;
    if (c->holds) {
        const double stop[2] = {t[0] - (hold[0] * v[1] + hold[1] * v[2]), t[1] - (hold[2] * v[2] + hold[1] * v[1])};
        if (stop[0] * stop[0] + stop[1] * stop[1] <= limit * limit) {
            t[0] = stop[0], t[1] = stop[1];
            return;
        }
    }
    t[0] -= c->hardest * v[1], t[1] -= c->hardest * v[2];
    limit_friction(limit, t);
}

/* One visit; returns by how much rates at this point changed. */
BO_INLINE double visit(int32_t size, const bo_contact_problem *p, bo_constraint *c) {
    double v[3], t[2], *change = c->change;
    rates_by(size, p, c, false, v);
    change[0] = 0;
    if (c->press > 0) {
        const double normal = larger(0, c->impulse[0] - (v[0] - c->speed) * c->press);
        change[0] = normal - c->impulse[0];
        c->impulse[0] = normal;
    }
    for (int r = 1; r < 3; r++)
        v[r] += c->W[3 * r] * change[0];
    rub(c, v, c->friction * c->impulse[0], t);
    double changed = fabs(change[0]) * c->W[0];
    for (int r = 1; r < 3; r++) {
        change[r] = t[r - 1] - c->impulse[r];
        c->impulse[r] = t[r - 1];
        changed = larger(changed, fabs(change[r]) * c->W[4 * r]);
    }
    apply_by(size, p, c, change);
    return changed;
}

/* By how much rates miss complementarity: what a visit would change, but for its effect on others. */
static double residual_of(const bo_contact_problem *p, const bo_constraint *c) {
    double v[3], t[2];
    find_rates(p, c, false, v);
    const double normal = c->press > 0 ? larger(0, c->impulse[0] - (v[0] - c->speed) * c->press) : c->impulse[0];
    rub(c, v, c->friction * c->impulse[0], t);
    return larger(fabs(normal - c->impulse[0]) * c->W[0],
                  larger(fabs(t[0] - c->impulse[1]) * c->W[4], fabs(t[1] - c->impulse[2]) * c->W[8]));
}

/* ---- all of them ---- */

/* Rounds of visits are steps of a descent. As in conjugate gradients (Silcowitz, Niebe, Erleben 2010), the direction of
 * the rounds before is followed on, by beta = ratio of the squared changes, and forgotten when changes grow. The last
 * round is one of visits only, and leaves impulses that friction and contact allow. */
BO_INLINE void follow_on(int32_t size, bo_contact_problem *p, double beta) {
    for (int32_t i = 0; i < p->constraint_count; i++) {
        bo_constraint *c = constraint_at(p, i);
        double more[3];
        for (int r = 0; r < 3; r++) {
            more[r] = beta * c->drift[r];
            c->drift[r] = beta > 0 ? more[r] + c->change[r] : 0;
            c->impulse[r] += more[r];
        }
        if (beta > 0)
            apply_by(size, p, c, more);
    }
}

BO_INLINE double squared_change(const bo_contact_problem *p) {
    double sum = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const bo_constraint *c = constraint_at(p, i);
        for (int r = 0; r < 3; r++)
            sum += c->W[4 * r] * c->change[r] * c->change[r];
    }
    return sum;
}

BO_INLINE void sweep_by(int32_t size, bo_contact_problem *p, double tolerance) {
    double before = 0;
    for (int32_t round = 0; round < p->most_rounds; round++) {
        double changed = 0;
        for (int32_t i = 0; i < p->constraint_count; i++)
            changed = larger(changed, visit(size, p, constraint_at(p, i)));
        p->rounds++;
        if (changed <= tolerance || round + 1 == p->most_rounds)
            break;
        const double now = squared_change(p);
        if (round == 0)
            for (int32_t i = 0; i < p->constraint_count; i++) {
                bo_constraint *c = constraint_at(p, i);
                memcpy(c->drift, c->change, sizeof c->drift);
            }
        else
            follow_on(size, p, now <= before ? now / before : 0);
        before = now;
    }
}

static void sweep(bo_contact_problem *p, double tolerance) {
    bool rigid = true;
    for (int32_t i = 0; i < p->constraint_count; i++) /* an island's groups are those that its constraints name */
        for (int k = 0; k < 2; k++) {
            const int32_t g = constraint_at(p, i)->groups[k];
            rigid = rigid && (g < 0 || p->groups[g].size == RIGID);
        }
    if (rigid)
        sweep_by(RIGID, p, tolerance);
    else
        sweep_by(ANY_SIZE, p, tolerance);
}

/* Points that were hit faster than bounce_speed leave by what restitution says. */
static bool bounce(bo_contact_problem *p) {
    bool any = false;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        bo_constraint *c = constraint_at(p, i);
        if (!(c->restitution > 0 && c->impulse[0] > 0 && c->approach > p->bounce_speed))
            continue;
        c->speed = fmax(c->speed, c->restitution * c->approach);
        any = true;
    }
    return any;
}

/* ---- no energy out of nothing ---- */

static void keep_plain(bo_contact_problem *p) {
    for (int32_t i = 0; i < p->constraint_count; i++) {
        bo_constraint *c = constraint_at(p, i);
        memcpy(c->plain, c->impulse, sizeof c->plain);
        find_rates(p, c, false, c->plain_rates);
        c->plain_speed = c->speed;
    }
}

/* Returns what impulses lambda add to the energy of a step, which takes the rates from y0 by forces to y0 + f, and by impulses to
 * y0 + f + A^-1 G lambda, with which it ends; on the way forces do the work f . A y. So its energy changes by that of z =
 * y0 + A^-1 G lambda against y0, and by -f . A f / 2, which has no part in this sum: lambda . (v0 + v - (vf - v0)) / 2
 * with the rates at the points: v0 at the start, vf without impulses, v at the end. */
static double added_energy(const bo_contact_problem *p) {
    double sum = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const bo_constraint *c = constraint_at(p, i);
        double v[3];
        find_rates(p, c, false, v);
        for (int r = 0; r < 3; r++)
            sum += 0.5 * c->impulse[r] * (c->lever[r] + v[r]);
    }
    return sum;
}

/* Goes from the impulses kept as plain only as far towards those of the last search as `most` energy is added: along
 * the way lambda_0 + s (lambda_1 - lambda_0) that is a quadratic function of s with a positive bend, and all of the way
 * obeys friction and contact. */
static void spare_energy(bo_contact_problem *p, double start, double most) {
    const double end = added_energy(p);
    double bend = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const bo_constraint *c = constraint_at(p, i);
        double v[3];
        find_rates(p, c, false, v);
        for (int r = 0; r < 3; r++)
            bend += 0.5 * (c->impulse[r] - c->plain[r]) * (v[r] - c->plain_rates[r]);
    }
    const double slope = end - start - bend;
    if (!(end > most) || !(bend > 0))
        return;
    const double root = slope * slope + 4 * bend * (most - start);
    const double s = fmin(fmax((-slope + sqrt(fmax(root, 0))) / (2 * bend), 0), 1);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        bo_constraint *c = constraint_at(p, i);
        double back[3];
        for (int r = 0; r < 3; r++) {
            back[r] = (1 - s) * (c->plain[r] - c->impulse[r]);
            c->impulse[r] += back[r];
        }
        c->speed = c->plain_speed + s * (c->speed - c->plain_speed);
        apply(p, c, back);
    }
}

/* Newton's law of impact, point by point, may add energy where there are friction and several points: no more is added
 * than without restitution. */
static void search_bounces(bo_contact_problem *p, double tolerance) {
    keep_plain(p);
    if (!bounce(p))
        return;
    const double start = added_energy(p);
    sweep(p, tolerance);
    spare_energy(p, start, fmax(start, 0));
}

static void sum_impulses(bo_contact_problem *p) {
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const bo_constraint *c = constraint_at(p, i);
        for (int s = 0; s < 2; s++) {
            if (c->groups[s] < 0)
                continue;
            const bo_group *g = &p->groups[c->groups[s]];
            const double *J = p->rows + c->rows[s];
            for (int r = 0; r < 3; r++, J += g->size)
                for (int32_t k = 0; k < g->size; k++)
                    g->impulse[k] += J[k] * c->impulse[r];
        }
    }
}

/* The most that contacts of an island may add to the energy of a step. */
typedef struct {
    double most; /* J: half of f . A f, f what forces change of the rates; what was taken by drag comes on top of it */
    double motion; /* J: kinetic energy at the start */
    bool held;     /* by something that does not move */
} allowance;

/* False where the energy of a group is not known. Counts each group once. */
static bool find_allowance(const bo_contact_problem *p, allowance *a) {
    *a = (allowance){0};
    for (int32_t i = 0; i < p->constraint_count; i++)
        for (int s = 0; s < 2; s++) {
            const int32_t g = constraint_at(p, i)->groups[s];
            if (g >= 0 && !p->groups[g].momentum)
                return false;
            if (g >= 0)
                p->groups[g].counted = false;
        }
    bool led = false;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const bo_constraint *c = constraint_at(p, i);
        a->held = a->held || c->groups[0] < 0 || c->groups[1] < 0;
        led = led || c->carried[0] != 0 || c->carried[1] != 0 || c->carried[2] != 0;
        for (int s = 0; s < 2; s++) {
            bo_group *g = c->groups[s] < 0 ? NULL : &p->groups[c->groups[s]];
            if (!g || g->counted)
                continue;
            g->counted = true, a->most += g->by_forces;
            for (int32_t k = 0; k < g->size; k++)
                a->motion += 0.5 * g->momentum[k] * g->before[k];
        }
    }
    a->held = a->held && !led;
    return true;
}

/* A search that did not end (masses a million apart, more rounds than there may be) leaves impulses of any energy: all of
 * them are made smaller by one factor, until they add no more than `most`. */
static void spare_unfinished(bo_contact_problem *p, double most) {
    if (!(added_energy(p) > most))
        return;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        bo_constraint *c = constraint_at(p, i);
        memset(c->plain, 0, sizeof c->plain);
        memcpy(c->plain_rates, c->without, sizeof c->without);
        c->plain_speed = c->speed;
    }
    spare_energy(p, 0, most);
}

/* Makes the impulses that were kept those of now, and keeps these. */
static void exchange(bo_contact_problem *p) {
    for (int32_t i = 0; i < p->constraint_count; i++) {
        bo_constraint *c = constraint_at(p, i);
        find_rates(p, c, false, c->plain_rates);
        for (int r = 0; r < 3; r++) {
            c->change[r] = c->plain[r] - c->impulse[r];
            c->plain[r] = c->impulse[r], c->impulse[r] += c->change[r];
        }
        const double speed = c->speed;
        c->speed = c->plain_speed, c->plain_speed = speed;
    }
    for (int32_t i = 0; i < p->constraint_count; i++)
        apply(p, constraint_at(p, i), constraint_at(p, i)->change);
}

/* Undoes overlaps, as far as there is energy for it. Returns what is missing, J. At rest a part of `most` that is
 * negligible is not looked at: it lifts things out of what is left of overlaps, less than a nanometre, and the search then ends at the same impulses
 * in every step. */
static double search_with_energy(bo_contact_problem *p, double tolerance, double most) {
    const double negligible = 1e-7 * most;
    bool any = false;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        constraint_at(p, i)->speed = constraint_at(p, i)->wanted;
        any = any || constraint_at(p, i)->wanted > 0;
    }
    sweep(p, tolerance);
    const double missing = added_energy(p) - most;
    if (!(missing > negligible))
        return 0;
    if (any) {
        keep_plain(p);
        for (int32_t i = 0; i < p->constraint_count; i++)
            constraint_at(p, i)->speed = fmin(constraint_at(p, i)->wanted, 0);
        sweep(p, tolerance);
        const double start = added_energy(p);
        if (start <= most) {
            exchange(p);
            spare_energy(p, start, most);
            return missing;
        }
    }
    spare_unfinished(p, most);
    return missing;
}

/* Slows the whole island down by a part of what its rates were at the start of the step, as if it had begun so. */
static void drag(bo_contact_problem *p, double part, allowance *a) {
    for (int32_t i = 0; i < p->constraint_count; i++) {
        bo_constraint *c = constraint_at(p, i);
        for (int r = 0; r < 3; r++) {
            const double start = 0.5 * (c->lever[r] + c->without[r]);
            c->without[r] -= part * start, c->lever[r] -= part * start;
        }
        for (int s = 0; s < 2; s++) {
            bo_group *g = c->groups[s] < 0 ? NULL : &p->groups[c->groups[s]];
            if (!g || !g->counted)
                continue;
            g->counted = false;
            for (int32_t k = 0; k < g->size; k++)
                g->y[k] -= part * g->before[k], g->impulse[k] -= part * g->momentum[k];
        }
    }
    a->most += a->motion * part * (2 - part);
}

/* Undoing an overlap lifts things and sets them moving. What that takes is paid from what the impact has taken: where
 * nothing overlaps, or overlaps are left as they are (no speed above 0), a step adds lambda . v <= 0 less half the square
 * of all change of rates. Where that is not enough, an island that something holds is slowed down to pay for it, by a
 * small part in a step: what ploughs through the ground gets slower. Whatever is still missing waits for a later step. */
static void search_overlaps(bo_contact_problem *p, double tolerance) {
    const double most_drag = 0.05 /* of all rates, in a step */, worth = 1e-3 /* of what is missing */;
    allowance a;
    for (int32_t i = 0; i < p->constraint_count; i++)
        constraint_at(p, i)->wanted = constraint_at(p, i)->speed;
    if (!find_allowance(p, &a)) {
        sweep(p, tolerance);
        return;
    }
    const double missing = search_with_energy(p, tolerance, a.most);
    if (!a.held || !(missing > 0) || 2 * most_drag * a.motion < worth * missing)
        return;
    drag(p, fmin(1 - sqrt(fmax(0, 1 - missing / a.motion)), most_drag), &a);
    search_with_energy(p, tolerance, a.most);
}

void bo_contact_solve(bo_contact_problem *p) {
    double scale = 0;
    p->rounds = 0, p->residual = 0;
    for (int32_t g = 0; g < p->group_count; g++)
        memset(p->groups[g].impulse, 0, (size_t)p->groups[g].size * sizeof(double));
    for (int32_t i = 0; i < p->constraint_count; i++) {
        bo_constraint *c = constraint_at(p, i);
        double v[3], start[3];
        prepare(p, c);
        find_rates(p, c, true, start);
        c->approach = -start[0];
        find_rates(p, c, false, v);
        for (int r = 0; r < 3; r++)
            c->lever[r] = 2 * start[r] - v[r], c->without[r] = v[r];
        scale = larger(scale, larger(fabs(v[0] - c->speed), larger(fabs(v[1]), fabs(v[2]))));
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        bo_constraint *c = constraint_at(p, i);
        for (int r = 0; r < 3; r++)
            c->impulse[r] = c->W[4 * r] > 0 ? c->impulse[r] : 0;
        limit_friction(c->friction * c->impulse[0], c->impulse + 1);
        apply(p, c, c->impulse);
    }
    search_overlaps(p, p->tolerance * scale);
    search_bounces(p, p->tolerance * scale);
    for (int32_t i = 0; i < p->constraint_count; i++)
        p->residual = larger(p->residual, residual_of(p, constraint_at(p, i)));
    sum_impulses(p);
}
