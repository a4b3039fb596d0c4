/* Data of the report's plots: lines with fewer samples, spectra, and a JSON object that the page's script draws. */
#include "retarget_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SAMPLES 1500       /* of a line */
#define LEAST_SAMPLES 300       /* of a line, however many lines there are */
#define NUMBERS_OF_PAGE 230000. /* of all lines: below 2 MB of text */
#define HIGHEST 30.             /* Hz, of spectra */
#define DIGITS 6
#define DEGREE (M_PI / 180)
#define CENTIMETRE 0.01
#define MILLIMETRE 0.001

/* The page while it is written. Lines of bodies have a sample every `stride` steps; those of motors, which are many,
 * may have fewer: every `motor_stride` steps, a multiple of it. */
typedef struct {
    FILE *out;
    const app_retarget_report *report;
    int32_t count, stride, samples; /* count: of steps, with the start; samples: of a body's line */
    int32_t motor_stride;
    int32_t transform, bins; /* of spectra: length of the Fourier transform, and how many of it are used */
    int32_t merge;           /* so many of them give one number: the largest */
    double *series;          /* count */
    double *re, *im, *power; /* transform, transform, bins */
    bool begun;              /* there is a plot before */
} page;

bool app_page_works(const app_retarget_case *c) {
    return c->motion && c->target;
}

/* ---- numbers ---- */

/* Writes the number with as many decimals as the largest one of its line needs for six digits. */
static void write_fixed(FILE *out, double x, int decimals) {
    char text[64];
    if (!isfinite(x)) {
        fputs("null", out);
        return;
    }
    snprintf(text, sizeof text, "%.*f", decimals, x);
    size_t length = strlen(text);
    if (decimals > 0) {
        while (text[length - 1] == '0')
            length--;
        if (text[length - 1] == '.')
            length--;
        text[length] = 0;
    }
    fputs(strcmp(text, "-0") == 0 ? "0" : text, out);
}

static void write_number(FILE *out, double x) {
    if (isfinite(x))
        fprintf(out, "%.*g", DIGITS, x);
    else
        fputs("null", out);
}

static int decimals_of(const double *values, int32_t count, double scale) {
    double most = 0;
    for (int32_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            most = fmax(most, fabs(scale * values[i]));
    const double decimals = most > 0 ? DIGITS - 1 - floor(log10(most)) : 0;
    return (int)fmin(fmax(decimals, 0), 20);
}

/* Finds a sample for the steps around k, half a stride to each side. A peak in between is kept at its full height, at
 * most half a stride away from its time; otherwise it is the value at k, so that smooth lines stay smooth. */
static double sample_at(const page *p, int32_t stride, int32_t k) {
    const double *y = p->series;
    const int32_t half = stride / 2, a = k > half ? k - half : 0, b = k + half < p->count ? k + half : p->count - 1;
    double low = fmin(y[a], y[b]), high = fmax(y[a], y[b]);
    const double lowest_end = low, highest_end = high;
    for (int32_t i = a; i <= b; i++)
        low = fmin(low, y[i]), high = fmax(high, y[i]);
    const double below = lowest_end - low, above = high - highest_end;
    return isnan(y[k]) || (below <= 0 && above <= 0) ? y[k] : above >= below ? high : low;
}

static void write_series(page *p, int32_t stride, double unit) {
    const int decimals = decimals_of(p->series, p->count, 1 / unit);
    for (int32_t k = 0; k <= (p->samples - 1) * p->stride; k += stride) {
        fputc(k ? ',' : '[', p->out);
        write_fixed(p->out, sample_at(p, stride, k) / unit, decimals);
    }
    fputc(']', p->out);
}

/* ---- spectra ---- */

/* Discrete Fourier transform in place, n a power of two: X_k = sum of x_j exp(-2 pi i j k / n). */
static void transform(double *re, double *im, int32_t n) {
    for (int32_t i = 1, j = 0; i < n; i++) { /* bits of the places are reversed */
        int32_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            const double r = re[i], s = im[i];
            re[i] = re[j], im[i] = im[j];
            re[j] = r, im[j] = s;
        }
    }
    for (int32_t half = 1; half < n; half *= 2)
        for (int32_t k = 0; k < half; k++) {
            const double c = cos(M_PI * k / half), s = -sin(M_PI * k / half);
            for (int32_t i = k; i < n; i += 2 * half) {
                const int32_t j = i + half;
                const double r = c * re[j] - s * im[j], t = c * im[j] + s * re[j];
                re[j] = re[i] - r, im[j] = im[i] - t;
                re[i] += r, im[i] += t;
            }
        }
}

/* Amplitudes of the deviation of a frame about its mean, with the window of Hann: a vibration A sin(w t) that lasts all
 * the time has a peak of height A. Directions are added as squares. */
static void find_spectrum(page *p, const app_retarget_case *c, int32_t frame) {
    const size_t first = (size_t)frame * (size_t)p->count;
    memset(p->power, 0, (size_t)p->bins * sizeof *p->power);
    for (size_t d = 0; d < 3; d++) {
        double mean = 0;
        memset(p->re, 0, (size_t)p->transform * sizeof *p->re);
        memset(p->im, 0, (size_t)p->transform * sizeof *p->im);
        for (int32_t k = 0; k < p->count; k++) {
            const size_t at = 3 * (first + (size_t)k) + d;
            p->re[k] = c->motion->positions[at] - c->target->positions[at];
            mean += p->re[k] / p->count;
        }
        for (int32_t k = 0; k < p->count; k++)
            p->re[k] = (p->re[k] - mean) * 0.5 * (1 - cos(2 * M_PI * k / (p->count - 1)));
        transform(p->re, p->im, p->transform);
        for (int32_t i = 0; i < p->bins; i++) /* the window's mean is 1/2; half of a vibration is at -w */
            p->power[i] += (p->re[i] * p->re[i] + p->im[i] * p->im[i]) * (4. / p->count) * (4. / p->count);
    }
}

static void write_spectrum(page *p, const app_retarget_case *c, int32_t frame) {
    find_spectrum(p, c, frame);
    for (int32_t i = 0; i < p->bins; i += p->merge) {
        double most = 0;
        for (int32_t k = i; k < i + p->merge && k < p->bins; k++)
            most = fmax(most, p->power[k]);
        fprintf(p->out, "%c%.4g", i ? ',' : '[', sqrt(most) / MILLIMETRE);
    }
    fputc(']', p->out);
}

/* ---- lines of a case ---- */

/* The angle of the turn between two orientations: |A - B|_F = 2 sqrt(2) sin(angle / 2). */
static double angle_between(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return 2 * asin(fmin(1, sqrt(sum / 8)));
}

static void find_deviation(page *p, const app_retarget_case *c, int32_t frame) {
    const size_t first = 3 * (size_t)frame * (size_t)p->count;
    const double *x = c->motion->positions + first, *y = c->target->positions + first;
    for (int32_t k = 0; k < p->count; k++, x += 3, y += 3)
        p->series[k] = sqrt(pow(x[0] - y[0], 2) + pow(x[1] - y[1], 2) + pow(x[2] - y[2], 2));
}

static void find_tilt(page *p, const app_retarget_case *c, int32_t frame) {
    const size_t first = 9 * (size_t)frame * (size_t)p->count;
    for (size_t k = 0; k < (size_t)p->count; k++)
        p->series[k] = angle_between(c->motion->rotations + first + 9 * k, c->target->rotations + first + 9 * k);
}

/* The best curves drive this case: they are where its motor was told to be. */
static bool follows_curves(const app_retarget_report *report, const double *places, int32_t motor) {
    const bough_retarget_view *v = &report->view;
    for (int32_t k = 0; k <= v->step_count; k++) {
        double place;
        bough_motor_curves_at(v->curves, motor, k * v->dt, &place, NULL, NULL);
        if (!(fabs(place - places[k]) <= 1e-12 * (1 + fabs(place))))
            return false;
    }
    return true;
}

void app_page_accelerations(const app_retarget_report *report, const app_retarget_case *c, int32_t motor, double *a) {
    const bough_retarget_view *v = &report->view;
    const int32_t last = v->step_count;
    const size_t first = (size_t)motor * ((size_t)last + 1);
    const double *rates = c->motion->rates + first;
    const bool exact = follows_curves(report, c->motion->places + first, motor);
    for (int32_t k = 0; k <= last; k++) {
        const int32_t i = k > 0 ? k - 1 : k, j = k < last ? k + 1 : k;
        if (exact)
            bough_motor_curves_at(v->curves, motor, k * v->dt, NULL, NULL, &a[k]);
        else
            a[k] = (rates[j] - rates[i]) / ((j - i) * v->dt);
    }
}

typedef enum { DEVIATION, TILT, SPECTRUM, PLACE, RATE, ACCELERATION, FORCE, KINETIC, ELASTIC } quantity;

static bool is_motor(quantity q) {
    return q >= PLACE && q <= FORCE;
}

/* Copies or computes the quantity of frame or motor `i` at all steps. */
static void find_series(page *p, const app_retarget_case *c, quantity q, int32_t i) {
    const size_t first = is_motor(q) ? (size_t)i * (size_t)p->count : 0;
    const bough_motion *m = c->motion;
    const double *from = q == PLACE     ? m->places
                         : q == RATE    ? m->rates
                         : q == FORCE   ? m->forces
                         : q == KINETIC ? m->kinetic
                         : q == ELASTIC ? m->elastic
                                        : NULL;
    if (from)
        memcpy(p->series, from + first, (size_t)p->count * sizeof *from);
    else if (q == DEVIATION)
        find_deviation(p, c, i);
    else if (q == TILT)
        find_tilt(p, c, i);
    else
        app_page_accelerations(p->report, c, i, p->series);
}

/* Returns an earlier case whose motor is told the same, so that its lines need not be written again; -1: none is. */
static int32_t find_same(const page *p, int32_t index, quantity q, int32_t motor) {
    const app_retarget_case *cases = p->report->cases;
    const size_t first = (size_t)motor * (size_t)p->count, bytes = (size_t)p->count * sizeof(double);
    for (int32_t i = 0; i < index && is_motor(q) && q != FORCE; i++)
        if (app_page_works(&cases[i]) &&
            memcmp(cases[i].motion->places + first, cases[index].motion->places + first, bytes) == 0 &&
            memcmp(cases[i].motion->rates + first, cases[index].motion->rates + first, bytes) == 0)
            return i;
    return -1;
}

/* ---- plots ---- */

typedef struct {
    const char *section, *group, *title, *unit, *axis;
    bool large, log;
    quantity quantity;
    int32_t index; /* of frame or motor */
    double scale;  /* of the unit */
    double lower, upper;
} plot;

static void begin_plot(page *p, const plot *f) {
    const char *const texts[][2] = {
        {"section", f->section}, {"group", f->group}, {"title", f->title}, {"unit", f->unit}, {"axis", f->axis}};
    fputs(p->begun ? ",\n{" : "\n{", p->out);
    p->begun = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fprintf(p->out, "\"%s\":", texts[i][0]);
        app_page_string(p->out, texts[i][1]);
        fputc(',', p->out);
    }
    if (is_motor(f->quantity) && p->motor_stride > p->stride)
        fprintf(p->out, "\"every\":%d,", p->motor_stride / p->stride);
    fprintf(p->out, "\"large\":%s,\"log\":%s,\"limits\":[", f->large ? "true" : "false", f->log ? "true" : "false");
    write_number(p->out, f->lower / f->scale);
    fputc(',', p->out);
    write_number(p->out, f->upper / f->scale);
    fputs("],\"lines\":[", p->out);
}

static void write_plot(page *p, const plot *f) {
    begin_plot(p, f);
    for (int32_t i = 0; i < p->report->case_count; i++) {
        const app_retarget_case *c = &p->report->cases[i];
        const int32_t same = app_page_works(c) ? find_same(p, i, f->quantity, f->index) : -1;
        fputs(i ? ",\n" : "\n", p->out);
        if (!app_page_works(c)) {
            fputs("null", p->out);
        } else if (same >= 0) {
            fprintf(p->out, "%d", same);
        } else if (f->quantity == SPECTRUM) {
            write_spectrum(p, c, f->index);
        } else {
            find_series(p, c, f->quantity, f->index);
            write_series(p, is_motor(f->quantity) ? p->motor_stride : p->stride, f->scale);
        }
    }
    fputs("]}", p->out);
}

static void write_frames(page *p) {
    const bough_retarget_view *v = &p->report->view;
    for (int32_t i = 0; i < v->frame_count; i++) {
        plot f = {"bodies",  v->frames[i], "Distance from target", "cm", "time", true, false, DEVIATION, i, CENTIMETRE,
                  -INFINITY, INFINITY};
        write_plot(p, &f);
        f.title = "Tilt against target", f.unit = "deg", f.large = false, f.quantity = TILT, f.scale = DEGREE;
        write_plot(p, &f);
        f.title = "Amplitude spectrum", f.unit = "mm", f.axis = "frequency", f.log = true;
        f.quantity = SPECTRUM, f.scale = MILLIMETRE;
        write_plot(p, &f);
    }
}

static void write_motors(page *p) {
    const bough_retarget_view *v = &p->report->view;
    for (int32_t i = 0; i < v->motor_count; i++) {
        const bool slides = v->slides[i];
        const bough_motor_limits *l = &v->limits[i];
        const double scale = slides ? 1 : DEGREE;
        const plot plots[] = {{"motors", v->motors[i], "Place", slides ? "m" : "deg", "time", false, false, PLACE, i,
                               scale, l->lowest, l->highest},
                              {"motors", v->motors[i], "Rate", slides ? "m/s" : "deg/s", "time", false, false, RATE, i,
                               scale, -l->speed, l->speed},
                              {"motors", v->motors[i], "Acceleration", slides ? "m/s\xc2\xb2" : "deg/s\xc2\xb2", "time",
                               false, false, ACCELERATION, i, scale, -l->acceleration, l->acceleration},
                              {"motors", v->motors[i], slides ? "Force" : "Torque", slides ? "N" : "N m", "time", false,
                               false, FORCE, i, 1, -l->force, l->force}};
        for (int k = 0; k < 4; k++)
            write_plot(p, &plots[k]);
    }
}

static void write_energies(page *p) {
    plot f = {"energy", "", "Kinetic energy", "J", "time", false, false, KINETIC, 0, 1, -INFINITY, INFINITY};
    write_plot(p, &f);
    f.title = "Elastic energy", f.quantity = ELASTIC;
    write_plot(p, &f);
}

/* ---- the search ---- */

static int32_t round_stride(const app_retarget_report *report) {
    return (report->round_count + MOST_SAMPLES - 1) / MOST_SAMPLES;
}

static void write_rounds(page *p) {
    const app_retarget_report *report = p->report;
    const int32_t stride = round_stride(report);
    plot f = {"search", "", "Objective", "", "iteration", false, true, DEVIATION, 0, 1, -INFINITY, INFINITY};
    for (int i = 0; i < 2 && report->round_count > 0; i++) {
        begin_plot(p, &f);
        for (int32_t k = 0; k < report->round_count; k += stride) {
            fputc(k ? ',' : '[', p->out);
            write_number(p->out, i == 0 ? report->rounds[k].value : report->rounds[k].deviation / CENTIMETRE);
        }
        fputs("]],\"own\":true}", p->out);
        f.title = "Largest distance from target", f.unit = "cm";
    }
}

static void write_round_table(page *p) {
    const app_retarget_report *report = p->report;
    const int32_t stride = round_stride(report);
    fputs("\"seconds\":[", p->out);
    for (int32_t k = 0; k < report->round_count; k += stride)
        fprintf(p->out, "%s%.4g", k ? "," : "", report->rounds[k].seconds);
    fputs("],\n\"windows\":[", p->out);
    for (int32_t k = 0; k < report->round_count; k += stride)
        fprintf(p->out, "%s%d", k ? "," : "", report->rounds[k].window);
    fputs("]", p->out);
}

/* ---- the object ---- */

static void write_cases(page *p) {
    fputs("\"cases\":[", p->out);
    for (int32_t i = 0; i < p->report->case_count; i++) {
        const app_retarget_case *c = &p->report->cases[i];
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", p->out);
        app_page_string(p->out, c->name);
        fprintf(p->out, ",\"main\":%s,\"works\":%s}", c->main ? "true" : "false", app_page_works(c) ? "true" : "false");
    }
    fputs("]", p->out);
}

static void write_axes(page *p) {
    const bough_retarget_view *v = &p->report->view;
    const int32_t stride = round_stride(p->report);
    fprintf(p->out, "\"axes\":{\n\"time\":{\"unit\":\"s\",\"start\":%.9g,\"step\":%.9g,\"count\":%d},\n",
            v->target ? v->target->start : 0, p->stride * v->dt, p->samples);
    fprintf(p->out, "\"frequency\":{\"unit\":\"Hz\",\"start\":0,\"step\":%.9g,\"count\":%d},\n",
            p->merge / (p->transform * v->dt), (p->bins + p->merge - 1) / p->merge);
    fprintf(p->out, "\"iteration\":{\"unit\":\"iteration\",\"start\":%d,\"step\":%d,\"count\":%d}}", 1,
            stride > 0 ? stride : 1, stride > 0 ? (p->report->round_count + stride - 1) / stride : 0);
}

static void write_pauses(page *p) {
    const bough_retarget_view *v = &p->report->view;
    const double start = v->target ? v->target->start : 0;
    bool some = false;
    fputs("\"pauses\":[", p->out);
    for (int32_t k = 0; k <= v->step_count; k++) {
        if (!v->pauses[k])
            continue;
        const int32_t first = k;
        while (k < v->step_count && v->pauses[k + 1])
            k++;
        fprintf(p->out, "%s[%.6g,%.6g]", some ? "," : "", start + first * v->dt, start + k * v->dt);
        some = true;
    }
    fputs("]", p->out);
}

/* The more lines there are, the fewer samples each has, and those of motors half as many as others. */
static void choose_samples(page *p) {
    const bough_retarget_view *v = &p->report->view;
    double lines = 0, motor_lines = 0, spectra = 0;
    for (int32_t i = 0; i < p->report->case_count; i++) {
        if (!app_page_works(&p->report->cases[i]))
            continue;
        lines += 2. * v->frame_count + 2, spectra += v->frame_count;
        for (int32_t m = 0; m < v->motor_count; m++)
            motor_lines += find_same(p, i, PLACE, m) < 0 ? 4 : 1;
    }
    const double budget = NUMBERS_OF_PAGE - spectra * (p->bins / p->merge);
    const bool plenty = (lines + motor_lines) * fmin(MOST_SAMPLES, p->count) <= budget;
    const double most = plenty ? MOST_SAMPLES : 2 * budget / (2 * lines + motor_lines);
    p->stride = (int32_t)ceil(v->step_count / fmin(fmax(most, LEAST_SAMPLES), MOST_SAMPLES));
    p->motor_stride = plenty ? p->stride : 2 * p->stride;
    p->samples = v->step_count / p->stride + 1;
}

static void choose_spectrum(page *p) {
    const double dt = p->report->view.dt;
    p->transform = 2;
    while (p->transform < 4 * p->count) /* finer than needed: peaks have their height */
        p->transform *= 2;
    p->bins = (int32_t)fmin(p->transform / 2., floor(HIGHEST * p->transform * dt) + 1);
    p->merge = (p->bins + MOST_SAMPLES - 1) / MOST_SAMPLES;
}

static bool make_page(page *p) {
    choose_spectrum(p);
    choose_samples(p);
    p->series = calloc((size_t)p->count, sizeof *p->series);
    p->re = calloc((size_t)p->transform, sizeof *p->re);
    p->im = calloc((size_t)p->transform, sizeof *p->im);
    p->power = calloc((size_t)p->bins, sizeof *p->power);
    return p->series && p->re && p->im && p->power;
}

bool app_page_data(FILE *out, const app_retarget_report *report) {
    page p = {.out = out, .report = report, .count = report->view.step_count + 1};
    const bool good = make_page(&p);
    if (good) {
        fputs("{", out);
        write_cases(&p);
        fputs(",\n", out);
        write_axes(&p);
        fputs(",\n", out);
        write_pauses(&p);
        fputs(",\n", out);
        write_round_table(&p);
        fputs(",\n\"plots\":[", out);
        write_frames(&p);
        write_motors(&p);
        write_energies(&p);
        write_rounds(&p);
        fputs("]}\n", out);
    }
    free(p.series), free(p.re), free(p.im), free(p.power);
    return good;
}
