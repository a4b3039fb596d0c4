/* A slider-crank with an elastic connecting rod against linear theory, which is solved here by itself.
 *
 * The rod is an Euler-Bernoulli beam on two pins whose ends move as those of a rigid rod would. With w its deflection
 * against the chord (angle phi, length L), m its mass per length, b the transverse acceleration of the chord's points and
 * P the tension by the inertia of a rigid rod and of the slider:
 *
 *     m (w" - phi'^2 w + b(x)) + E I d4w/dx4 - (P w_x)_x = 0,     w = sum_n q_n sin(n pi x / L)
 *
 * Five sines by Galerkin's method, in time by the classical Runge-Kutta method: the equations of Chu and Pan (1975) and
 * Jonker (1989) for small deflections. */
#include "rods.h"

static const bo_vec3 O = {0, 0, 0}, Z = {0, 0, 1};
static const double radius = 0.05, length = 0.3, slider_mass = 0.1;
static const double speed = 60, rise_time = 0.2; /* rad/s, reached smoothly in that time */

static rod_def make_rod(void) {
    return (rod_def){.model = BOUGH_MATERIAL_STVK,
                     .length = 0.3,
                     .thickness = 8e-3,
                     .young = 3e9,
                     .density = 1200,
                     .cells = 24,
                     .modes = 8,
                     .r = 24,
                     .attachments = true};
}

/* ---- the crank's motion, and that of a rigid rod ---- */

/* Angle, rate and acceleration: the rate rises by x^3 (10 - 15 x + 6 x^2), x = t / rise_time. */
static void crank_at(double t, double theta[3]) {
    const double x = t / rise_time, T = rise_time;
    if (x >= 1) {
        theta[0] = speed * T * (x - 0.5), theta[1] = speed, theta[2] = 0;
        return;
    }
    theta[0] = speed * T * x * x * x * x * (2.5 - 3 * x + x * x);
    theta[1] = speed * x * x * x * (10 - 15 * x + 6 * x * x);
    theta[2] = speed / T * 30 * x * x * (1 - x) * (1 - x);
}

static void turn_crank(void *data, int32_t motor, double time, double *place, double *rate) {
    double theta[3];
    (void)data, (void)motor;
    crank_at(time, theta);
    *place = theta[0], *rate = theta[1];
}

typedef struct {
    double phi, spin, turn;  /* angle of the rod, its rate and acceleration */
    double pin[2], slider;   /* accelerations of the crank pin, and of the slider along x */
    double along, across;    /* the pin's acceleration along and across the rod */
    double tension, by_x[2]; /* P(x) = tension + by_x[0] x + by_x[1] x^2 */
} rigid;

/* sin phi = -r/L sin theta. */
static rigid rigid_at(double t, double m) {
    double q[3];
    rigid k;
    crank_at(t, q);
    const double s = -radius / length, c = cos(q[0]), n = sin(q[0]);
    k.phi = asin(s * n);
    const double cosine = cos(k.phi), sine = sin(k.phi);
    k.spin = s * c * q[1] / cosine;
    k.turn = (s * (c * q[2] - n * q[1] * q[1]) + sine * k.spin * k.spin) / cosine;
    k.pin[0] = radius * (-n * q[2] - c * q[1] * q[1]), k.pin[1] = radius * (c * q[2] - n * q[1] * q[1]);
    k.slider = k.pin[0] - length * (sine * k.turn + cosine * k.spin * k.spin);
    k.along = k.pin[0] * cosine + k.pin[1] * sine, k.across = -k.pin[0] * sine + k.pin[1] * cosine;
    /* The slider's force on the rod: -M x" along the slide, across it from the torque about the pin. */
    const double torque = m * (k.across * length * length / 2 + k.turn * pow(length, 3) / 3);
    const double force_x = -slider_mass * k.slider, force_y = (torque / length + sine * force_x) / cosine;
    const double end = force_x * cosine + force_y * sine;
    /* P(x) = end - m int_x^L (along - spin^2 s) ds */
    k.tension = end - m * (k.along * length - k.spin * k.spin * length * length / 2);
    k.by_x[0] = m * k.along, k.by_x[1] = -m * k.spin * k.spin / 2;
    return k;
}

/* ---- the beam ---- */

enum { SINES = 5, POINTS = 64 };

typedef struct {
    double q[SINES], v[SINES];
} beam;

/* Integrals over x by the trapezoidal rule, which sums sines and cosines of these numbers exactly. */
static beam rate_of_beam(const beam *y, double t, double m, double EI) {
    const rigid k = rigid_at(t, m);
    beam rate;
    for (int n = 1; n <= SINES; n++) {
        const double wave = n * M_PI / length;
        double load = 0, pull = 0;
        for (int i = 0; i <= POINTS; i++) {
            const double x = length * i / POINTS, part = (i == 0 || i == POINTS ? 0.5 : 1) * length / POINTS;
            const double P = k.tension + k.by_x[0] * x + k.by_x[1] * x * x;
            double slope = 0;
            for (int l = 1; l <= SINES; l++)
                slope += y->q[l - 1] * l * M_PI / length * cos(l * M_PI * x / length);
            load += part * m * (k.across + k.turn * x) * sin(wave * x);
            pull += part * P * slope * wave * cos(wave * x);
        }
        rate.q[n - 1] = y->v[n - 1];
        rate.v[n - 1] =
            k.spin * k.spin * y->q[n - 1] - EI * pow(wave, 4) / m * y->q[n - 1] - (load + pull) / (0.5 * m * length);
    }
    return rate;
}

static beam moved(const beam *y, double h, const beam *rate) {
    beam z;
    for (int n = 0; n < SINES; n++)
        z.q[n] = y->q[n] + h * rate->q[n], z.v[n] = y->v[n] + h * rate->v[n];
    return z;
}

static void step_beam(beam *y, double t, double h, double m, double EI) {
    const beam a = rate_of_beam(y, t, m, EI), y2 = moved(y, h / 2, &a), b = rate_of_beam(&y2, t + h / 2, m, EI);
    const beam y3 = moved(y, h / 2, &b), c = rate_of_beam(&y3, t + h / 2, m, EI), y4 = moved(y, h, &c);
    const beam d = rate_of_beam(&y4, t + h, m, EI);
    for (int n = 0; n < SINES; n++) {
        y->q[n] += h / 6 * (a.q[n] + 2 * b.q[n] + 2 * c.q[n] + d.q[n]);
        y->v[n] += h / 6 * (a.v[n] + 2 * b.v[n] + 2 * c.v[n] + d.v[n]);
    }
}

/* Half the difference of the slopes at both ends, as the height of a sine that had it. */
static double bend_of_beam(const beam *y) {
    double sum = 0;
    for (int n = 1; n <= SINES; n += 2)
        sum += n * y->q[n - 1];
    return sum;
}

/* ---- the same as a multibody system ---- */

enum { CRANK, LUG, SLIDER };

static build *make_slider_crank(const bough_component *rod) {
    build *b = start_build();
    const bo_vec3 pin = {radius, 0, 0}, end = {radius + length, 0, 0};
    add_link(b, 0.2, O, pin);
    add_body(b, 1e-4, bo_v3(1e-9, 1e-9, 1e-9), place_at(pin));
    add_body(b, slider_mass, bo_v3(1e-4, 1e-4, 1e-4), place_at(end));
    add_motor(b, add_hinge(b, BOUGH_WORLD, CRANK, O, Z), 0);
    add_hinge(b, CRANK, LUG, pin, Z);
    add_joint(b, BOUGH_JOINT_PRISMATIC, BOUGH_WORLD, SLIDER, place_along(end, bo_v3(1, 0, 0)));
    add_part(b, rod, LUG, place_at(pin));
    weld_tip(b, 0, SLIDER);
    b->joints[b->def.joint_count - 1].kind = BOUGH_JOINT_BALL;
    finish_build(b);
    b->state->drive = turn_crank;
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    return b;
}

static double angle_in_plane(const double R[9]) {
    return atan2(R[3], R[0]);
}

static double bend_of_rod(const build *b) {
    bough_frame_def tip = bough_default_frame_def();
    bough_pose at;
    tip.body = b->def.body_count, tip.interface_index = 1;
    bough_multibody_frame(b->model, b->state, &tip, &at, NULL);
    const double root = angle_in_plane(axes_of_body(b, LUG).m);
    return 0.5 * (root - angle_in_plane(at.rotation)) * length / M_PI;
}

static void connecting_rods_bend_as_theory_says(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const rod_def def = make_rod();
    bough_component *rod = cook_rod(ctx, &def);
    build *b = make_slider_crank(rod);
    const double m = def.density * rod_area(&def), EI = def.young * rod_moment(&def), dt = 1e-4;
    beam y = {{0}, {0}};
    double most = 0, square = 0, worst = 0;
    int count = 0;
    for (int i = 0; i < 4000; i++) { /* 0.4 s: four turns, half of them at full speed */
        take_step(b, dt);
        for (int k = 0; k < 4; k++)
            step_beam(&y, i * dt + k * dt / 4, dt / 4, m, EI);
        const double theory = bend_of_beam(&y), off = bend_of_rod(b) - theory;
        most = fmax(most, fabs(theory)), worst = fmax(worst, fabs(off));
        square += off * off, count++;
    }
    print_message("the rod bends by %.3g mm; the theory of small deflections is off by %.3g, rms %.3g of that\n",
                  1e3 * most, worst / most, sqrt(square / count) / most);
    check(most > 1e-3);
    check_below(worst / most, 0.003);
    check_below(sqrt(square / count) / most, 0.001);
    free_build(b);
    bough_component_destroy(ctx, rod);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(connecting_rods_bend_as_theory_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
