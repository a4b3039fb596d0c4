/* A crouching dragon, put together from cones and triangles. x is forward, y to its left, z up; metres. */
#include "example_dragon.h"

#include <assert.h>
#include <string.h>

#define FILLET 0.05 /* m: how far from each other limbs begin to flow together */

/* Pieces of the middle, then pairs (left, right). */
enum {
    BELLY,
    CHEST,
    HIPS,
    NECK1,
    NECK2,
    HEAD,
    SNOUT,
    JAW,
    TAIL1,
    TAIL2,
    TAIL3,
    TAIL4,
    SPIKE1,
    SPIKE2,
    SPIKE3,
    SPIKE4,
    SPIKE5,
    SPIKE6,
    PAIRS,
    HORN = PAIRS,
    EAR = PAIRS + 2,
    ARM = PAIRS + 4,
    FOREARM = PAIRS + 6,
    HAND = PAIRS + 8,
    THIGH = PAIRS + 10,
    SHIN = PAIRS + 12,
    FOOT = PAIRS + 14,
    WING1 = PAIRS + 16,
    WING2 = PAIRS + 18,
    WING3 = PAIRS + 20
};

/* Horns, tail, spikes and mouth are softer than the rest, as the paper's are; wings, which are thin, are stiffer. */
static const struct {
    const char *name;
    int32_t parent;
    double stiffness;
} middle[PAIRS] =
    {
        {"belly", -1, 1},       {"chest", BELLY, 1},    {"hips", BELLY, 1},     {"neck1", CHEST, 1},
        {"neck2", NECK1, 1},    {"head", NECK2, 1},     {"snout", HEAD, 0.6},   {"jaw", HEAD, 0.5},
        {"tail1", HIPS, 0.7},   {"tail2", TAIL1, 0.7},  {"tail3", TAIL2, 0.7},  {"tail4", TAIL3, 0.7},
        {"spike1", NECK1, 0.5}, {"spike2", CHEST, 0.5}, {"spike3", BELLY, 0.5}, {"spike4", HIPS, 0.5},
        {"spike5", TAIL1, 0.5}, {"spike6", TAIL2, 0.5},
},
  pairs[] = {
      {"horn", HEAD, 0.4},   {"ear", HEAD, 0.5},    {"arm", CHEST, 1},     {"forearm", ARM, 1},
      {"hand", FOREARM, 1},  {"thigh", HIPS, 1},    {"shin", THIGH, 1},    {"foot", SHIN, 1},
      {"wing1", CHEST, 1.8}, {"wing2", WING1, 1.6}, {"wing3", WING2, 1.4},
};

static void name_domains(dragon_shape *s) {
    for (int32_t i = 0; i < PAIRS; i++) {
        dragon_domain *d = &s->domains[s->domain_count++];
        *d = (dragon_domain){.parent = middle[i].parent, .stiffness = middle[i].stiffness};
        snprintf(d->name, sizeof d->name, "%s", middle[i].name);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int32_t side = 0; side < 2; side++) {
            dragon_domain *d = &s->domains[s->domain_count++];
            *d = (dragon_domain){.parent = pairs[i].parent, .stiffness = pairs[i].stiffness};
            if (d->parent >= PAIRS)
                d->parent += side;
            snprintf(d->name, sizeof d->name, "%s_%s", pairs[i].name, side ? "right" : "left");
        }
}

/* ---- bones ---- */

static void add_bone(dragon_shape *s, dragon_bone bone) {
    assert(s->bone_count < DRAGON_MOST_BONES);
    s->bones[s->bone_count++] = bone;
}

static void cone(dragon_shape *s, int32_t domain, v3 a, double ra, v3 b, double rb) {
    add_bone(s, (dragon_bone){.a = a, .b = b, .ra = ra, .rb = rb, .domain = domain});
}

static void plate(dragon_shape *s, int32_t domain, v3 a, v3 b, v3 c, double thickness) {
    add_bone(s, (dragon_bone){a, b, c, thickness, thickness, true, domain});
}

static void begin_limb(dragon_shape *s) {
    assert(s->limb_count < DRAGON_MOST_LIMBS);
    s->limbs[s->limb_count].begin = s->bone_count;
}

static void end_limb(dragon_shape *s) {
    s->limbs[s->limb_count++].end = s->bone_count;
}

/* A bend of the spine: the domain is that of the piece from here to the next. */
typedef struct joint {
    v3 at;
    double radius;
    int32_t domain;
} joint;

static void chain(dragon_shape *s, const joint *joints, int count) {
    begin_limb(s);
    for (int i = 0; i + 1 < count; i++)
        cone(s, joints[i].domain, joints[i].at, joints[i].radius, joints[i + 1].at, joints[i + 1].radius);
    end_limb(s);
}

static const joint spine[] = {
    {{-1.30, 1.06, 0.52}, 0.030, TAIL4}, {{-1.40, 0.92, 0.36}, 0.046, TAIL4}, {{-1.47, 0.76, 0.22}, 0.060, TAIL3},
    {{-1.46, 0.58, 0.13}, 0.074, TAIL3}, {{-1.37, 0.38, 0.10}, 0.086, TAIL2}, {{-1.18, 0.18, 0.11}, 0.100, TAIL2},
    {{-0.97, 0.05, 0.14}, 0.118, TAIL1}, {{-0.68, 0.00, 0.20}, 0.135, HIPS},  {{-0.48, 0.00, 0.24}, 0.158, HIPS},
    {{-0.30, 0.00, 0.21}, 0.155, BELLY}, {{0.02, 0.00, 0.18}, 0.165, CHEST},  {{0.20, 0.00, 0.22}, 0.175, CHEST},
    {{0.40, 0.00, 0.34}, 0.168, CHEST},  {{0.54, 0.00, 0.47}, 0.132, NECK1},  {{0.62, 0.00, 0.62}, 0.112, NECK1},
    {{0.64, 0.00, 0.80}, 0.096, NECK2},  {{0.62, 0.00, 0.98}, 0.086, NECK2},  {{0.66, 0.00, 1.13}, 0.084, HEAD},
    {{0.76, 0.00, 1.21}, 0.092, HEAD},   {{0.89, 0.00, 1.21}, 0.090, HEAD},
};

static void add_head(dragon_shape *s) {
    begin_limb(s);
    cone(s, SNOUT, (v3){0.92, 0, 1.215}, 0.070, (v3){1.18, 0, 1.165}, 0.044);
    cone(s, SNOUT, (v3){1.16, 0.026, 1.195}, 0.030, (v3){1.18, 0.028, 1.205}, 0.024); /* nostrils */
    cone(s, SNOUT, (v3){1.16, -0.026, 1.195}, 0.030, (v3){1.18, -0.028, 1.205}, 0.024);
    cone(s, SNOUT, (v3){1.15, 0.028, 1.14}, 0.024, (v3){1.155, 0.030, 1.095}, 0.017); /* fangs */
    cone(s, SNOUT, (v3){1.15, -0.028, 1.14}, 0.024, (v3){1.155, -0.030, 1.095}, 0.017);
    end_limb(s);
    begin_limb(s);
    cone(s, JAW, (v3){0.88, 0, 1.135}, 0.055, (v3){1.09, 0, 1.00}, 0.034);
    cone(s, JAW, (v3){1.09, 0, 1.00}, 0.034, (v3){1.11, 0, 1.005}, 0.028);
    end_limb(s);
    begin_limb(s);
    cone(s, HEAD, (v3){0.88, 0.055, 1.265}, 0.034, (v3){0.80, 0.065, 1.275}, 0.03); /* brows */
    cone(s, HEAD, (v3){0.88, -0.055, 1.265}, 0.034, (v3){0.80, -0.065, 1.275}, 0.03);
    end_limb(s);
}

/* A plate that leans back on the spine: `at` its foot, `length` along the spine. */
static void spike(dragon_shape *s, int32_t domain, v3 at, v3 along, v3 up, double length, double height) {
    v3 front = v3_along(at, 0.5 * length, along), back = v3_along(at, -0.5 * length, along);
    v3 tip = v3_along(v3_along(at, height, up), -0.55 * length, along);
    plate(s, domain, front, back, tip, 0.022);
}

static void add_spikes(dragon_shape *s) {
    begin_limb(s);
    spike(s, SPIKE1, (v3){0.515, 0, 0.70}, (v3){0.05, 0, 1}, (v3){-1, 0, 0.1}, 0.15, 0.18);
    spike(s, SPIKE2, (v3){0.27, 0, 0.47}, (v3){0.85, 0, 0.5}, (v3){-0.4, 0, 0.9}, 0.17, 0.22);
    spike(s, SPIKE3, (v3){-0.13, 0, 0.37}, (v3){1, 0, 0.08}, (v3){-0.08, 0, 1}, 0.19, 0.25);
    spike(s, SPIKE4, (v3){-0.46, 0, 0.40}, (v3){1, 0, -0.05}, (v3){0.05, 0, 1}, 0.18, 0.23);
    spike(s, SPIKE5, (v3){-0.80, 0.01, 0.31}, (v3){0.98, -0.1, 0.18}, (v3){-0.18, 0, 0.98}, 0.17, 0.21);
    spike(s, SPIKE6, (v3){-1.14, 0.15, 0.21}, (v3){0.83, -0.55, 0.05}, (v3){0, 0, 1}, 0.15, 0.18);
    end_limb(s);
    begin_limb(s); /* small ones in between, of the pieces they stand on */
    spike(s, NECK2, (v3){0.545, 0, 0.92}, (v3){-0.1, 0, 1}, (v3){-1, 0, 0}, 0.10, 0.12);
    spike(s, CHEST, (v3){0.42, 0, 0.56}, (v3){0.6, 0, 0.8}, (v3){-0.8, 0, 0.6}, 0.10, 0.13);
    spike(s, HIPS, (v3){-0.60, 0, 0.36}, (v3){1, 0, 0.25}, (v3){-0.25, 0, 1}, 0.11, 0.14);
    spike(s, TAIL1, (v3){-0.98, 0.06, 0.25}, (v3){0.93, -0.3, 0.1}, (v3){-0.1, 0, 1}, 0.10, 0.13);
    spike(s, TAIL3, (v3){-1.40, 0.47, 0.18}, (v3){0.4, -0.9, 0}, (v3){0, 0, 1}, 0.10, 0.12);
    end_limb(s);
    begin_limb(s); /* the tail's blade */
    plate(s, TAIL4, (v3){-1.33, 1.02, 0.47}, (v3){-1.16, 1.02, 0.60}, (v3){-1.17, 1.24, 0.72}, 0.023);
    plate(s, TAIL4, (v3){-1.33, 1.02, 0.47}, (v3){-1.40, 1.16, 0.54}, (v3){-1.17, 1.24, 0.72}, 0.023);
    end_limb(s);
}

/* ---- pairs ---- */

static v3 mirrored(v3 p, int32_t side) {
    return side ? (v3){p.x, -p.y, p.z} : p;
}

/* Bones from `begin` on are those of the left; adds those of the right. */
static void mirror_limb(dragon_shape *s, const dragon_limb *left) {
    begin_limb(s);
    for (int32_t i = left->begin; i < left->end; i++) {
        dragon_bone bone = s->bones[i];
        bone.a = mirrored(bone.a, 1), bone.b = mirrored(bone.b, 1), bone.c = mirrored(bone.c, 1);
        if (bone.domain >= PAIRS)
            bone.domain++;
        add_bone(s, bone);
    }
    end_limb(s);
}

static void add_claws(dragon_shape *s, int32_t domain, v3 at) {
    for (int i = -1; i <= 1; i++) {
        v3 root = {at.x + 0.02, at.y + 0.045 * i, at.z}, knuckle = {at.x + 0.10, at.y + 0.075 * i, at.z + 0.005};
        cone(s, domain, root, 0.036, knuckle, 0.030);
        cone(s, domain, knuckle, 0.028, (v3){knuckle.x + 0.065, knuckle.y + 0.012 * i, 0.022}, 0.021);
    }
}

static void add_legs(dragon_shape *s) {
    static const joint front[] = {{{0.34, 0.12, 0.30}, 0.10, ARM},
                                  {{0.25, 0.31, 0.27}, 0.076, FOREARM},
                                  {{0.45, 0.37, 0.09}, 0.050, HAND},
                                  {{0.50, 0.375, 0.05}, 0.046, HAND}};
    static const joint hind[] = {{{-0.50, 0.12, 0.25}, 0.125, THIGH},
                                 {{-0.28, 0.30, 0.30}, 0.095, SHIN},
                                 {{-0.50, 0.35, 0.11}, 0.056, FOOT},
                                 {{-0.40, 0.355, 0.05}, 0.048, FOOT}};
    chain(s, front, 4);
    begin_limb(s);
    add_claws(s, HAND, (v3){0.50, 0.375, 0.045});
    end_limb(s);
    chain(s, hind, 4);
    begin_limb(s);
    add_claws(s, FOOT, (v3){-0.40, 0.355, 0.045});
    end_limb(s);
}

/* From a to b by a part of the way. */
static v3 between(v3 a, v3 b, double t) {
    return v3_add(v3_scale(1 - t, a), v3_scale(t, b));
}

/* Skin between two fingers, whose rim sags towards the wrist. */
static void add_skin(dragon_shape *s, int32_t domain, v3 wrist, v3 one, v3 two) {
    const double skin = 0.019, rim = 0.024;
    const v3 sag = between(between(one, two, 0.5), wrist, 0.22);
    plate(s, domain, wrist, one, sag, skin);
    plate(s, domain, wrist, sag, two, skin);
    cone(s, domain, one, rim, sag, rim);
    cone(s, domain, sag, rim, two, rim);
}

/* An arm with three fingers, spread. */
static void add_wing(dragon_shape *s) {
    const v3 root = {0.25, 0.09, 0.42}, elbow = {0.08, 0.32, 0.80}, wrist = {0.24, 0.54, 1.16};
    const v3 first = {-0.12, 1.12, 1.34}, second = {-0.56, 0.88, 1.00}, third = {-0.62, 0.52, 0.68};
    const v3 flank = {0.06, 0.10, 0.34};
    begin_limb(s);
    cone(s, WING1, root, 0.060, elbow, 0.044);
    plate(s, WING1, root, elbow, flank, 0.02);
    add_skin(s, WING1, elbow, third, flank);
    cone(s, WING2, elbow, 0.044, wrist, 0.038);
    cone(s, WING2, between(elbow, third, 0.05), 0.034, third, 0.026);
    plate(s, WING2, elbow, wrist, third, 0.019);
    add_skin(s, WING2, wrist, second, third);
    cone(s, WING3, between(wrist, second, 0.05), 0.034, second, 0.026);
    add_skin(s, WING3, wrist, first, second);
    cone(s, WING3, between(wrist, first, 0.03), 0.038, first, 0.024);
    cone(s, WING3, between(wrist, elbow, -0.05), 0.034, (v3){0.38, 0.58, 1.27}, 0.026); /* a claw */
    end_limb(s);
}

static void add_pairs(dragon_shape *s) {
    static const joint horn[] = {{{0.78, 0.045, 1.28}, 0.042, HORN},
                                 {{0.64, 0.09, 1.375}, 0.034, HORN},
                                 {{0.50, 0.125, 1.41}, 0.029, HORN},
                                 {{0.38, 0.14, 1.465}, 0.024, HORN}};
    const int32_t first = s->limb_count;
    chain(s, horn, 4);
    begin_limb(s);
    plate(s, EAR, (v3){0.78, 0.085, 1.22}, (v3){0.74, 0.085, 1.15}, (v3){0.61, 0.20, 1.21}, 0.022);
    end_limb(s);
    add_legs(s);
    add_wing(s);
    for (int32_t i = first, last = s->limb_count; i < last; i++)
        mirror_limb(s, &s->limbs[i]);
}

/* ---- distances ---- */

static double length(v3 a) {
    return sqrt(v3_dot(a, a));
}

static v3 minus(v3 a, v3 b) {
    return v3_along(a, -1, b);
}

/* Two balls and the cone that touches both. With l = |b - a|, the cone's side leans by the sine (ra - rb) / l; in the
 * plane of the axis, y along it and x away from it, the distance is that of the ball whose sector holds the point. */
static double cone_distance(const dragon_bone *bone, v3 p) {
    const v3 ba = minus(bone->b, bone->a), pa = minus(p, bone->a);
    const double l = length(ba), sine = (bone->ra - bone->rb) / l, cosine = sqrt(fmax(0, 1 - sine * sine));
    const double y = v3_dot(pa, ba) / l, x = sqrt(fmax(0, v3_dot(pa, pa) - y * y));
    const double k = cosine * y - sine * x; /* along the side, from where the ball at a touches it */
    if (k < 0)
        return sqrt(x * x + y * y) - bone->ra;
    if (k > cosine * l)
        return sqrt(x * x + (y - l) * (y - l)) - bone->rb;
    return cosine * x + sine * y - bone->ra;
}

static double segment_distance(v3 p, v3 a, v3 b) {
    const v3 ba = minus(b, a), pa = minus(p, a);
    const double t = fmin(1, fmax(0, v3_dot(pa, ba) / v3_dot(ba, ba)));
    return length(v3_along(pa, -t, ba));
}

static double triangle_distance(v3 p, v3 a, v3 b, v3 c) {
    const v3 n = v3_cross(minus(b, a), minus(c, a));
    const bool within = v3_dot(v3_cross(n, minus(b, a)), minus(p, a)) >= 0 &&
                        v3_dot(v3_cross(n, minus(c, b)), minus(p, b)) >= 0 &&
                        v3_dot(v3_cross(n, minus(a, c)), minus(p, c)) >= 0;
    if (within)
        return fabs(v3_dot(n, minus(p, a))) / length(n);
    return fmin(segment_distance(p, a, b), fmin(segment_distance(p, b, c), segment_distance(p, c, a)));
}

static double bone_distance(const dragon_bone *bone, v3 p) {
    return bone->has_c ? triangle_distance(p, bone->a, bone->b, bone->c) - bone->ra : cone_distance(bone, p);
}

/* The smaller of two, rounded where they are within FILLET of each other; it changes no faster than they do. */
static double smooth_least(double a, double b) {
    const double h = fmax(0, FILLET - fabs(a - b));
    return fmin(a, b) - h * h / (4 * FILLET);
}

double dragon_distance(void *user, const double x[3]) {
    const dragon_shape *s = user;
    const v3 p = {x[0], x[1], x[2]};
    double all = INFINITY;
    for (int32_t l = 0; l < s->limb_count; l++) {
        const dragon_limb *limb = &s->limbs[l];
        double least = length(minus(p, limb->middle)) - limb->radius;
        if (least > all + FILLET)
            continue; /* too far away to make a difference */
        least = INFINITY;
        for (int32_t i = limb->begin; i < limb->end; i++)
            least = fmin(least, bone_distance(&s->bones[i], p));
        all = isinf(all) ? least : smooth_least(all, least);
    }
    return all;
}

int32_t dragon_nearest(const dragon_shape *s, v3 x) {
    double best = INFINITY;
    int32_t domain = DRAGON_ROOT;
    for (int32_t i = 0; i < s->bone_count; i++) {
        const dragon_bone *bone = &s->bones[i];
        const v3 ba = minus(bone->b, bone->a);
        const double t = fmin(1, fmax(0, v3_dot(minus(x, bone->a), ba) / v3_dot(ba, ba)));
        const double away = bone->has_c
                                ? triangle_distance(x, bone->a, bone->b, bone->c) / bone->ra
                                : length(minus(x, v3_along(bone->a, t, ba))) / (bone->ra + t * (bone->rb - bone->ra));
        if (away < best)
            best = away, domain = bone->domain;
    }
    return domain;
}

/* A ball around the limb: about the middle of its box. */
static void bound_limb(const dragon_shape *s, dragon_limb *limb) {
    v3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = limb->begin; i < limb->end; i++)
        for (int c = 0; c < 3; c++) {
            const dragon_bone *b = &s->bones[i];
            const v3 p = c == 0 ? b->a : c == 1 || !b->has_c ? b->b : b->c;
            low = (v3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
            high = (v3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
        }
    limb->middle = v3_scale(0.5, v3_add(low, high));
    for (int32_t i = limb->begin; i < limb->end; i++)
        for (int c = 0; c < 3; c++) {
            const dragon_bone *b = &s->bones[i];
            const v3 p = c == 0 ? b->a : c == 1 || !b->has_c ? b->b : b->c;
            limb->radius = fmax(limb->radius, length(minus(p, limb->middle)) + fmax(b->ra, b->rb));
        }
}

void dragon_make(dragon_shape *s) {
    memset(s, 0, sizeof *s);
    name_domains(s);
    chain(s, spine, sizeof spine / sizeof *spine);
    add_head(s);
    add_spikes(s);
    add_pairs(s);
    for (int32_t l = 0; l < s->limb_count; l++)
        bound_limb(s, &s->limbs[l]);
}
