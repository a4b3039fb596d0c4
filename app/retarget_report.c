/* The report of a retargeting: its sentence, its tables, and how the file is written. */
#include "retarget_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (M_PI / 180)
#define CENTIMETRE 0.01
#define OVER 1.01 /* of a limit: less beyond it is nothing to worry about */

/* The worst of all tracked frames. */
typedef struct {
    double pause, peak, tilt; /* m, m, rad; NAN: there are none */
} summary;

typedef struct {
    FILE *out;
    const app_retarget_report *report;
    const app_retarget_case *before, *after; /* the first and the last of the main cases; NULL: they do not work */
    summary first, last;                     /* of these */
} writer;

/* ---- numbers for people ---- */

/* Four digits without an exponent: 12.34, 0.001234; "-" for NAN. */
static const char *plain(double x, char text[32]) {
    if (isnan(x))
        return "-";
    if (x == 0 || fabs(x) < 1e-9)
        return "0";
    if (!isfinite(x) || fabs(x) >= 1e7)
        snprintf(text, 32, "%.4g", x);
    else
        snprintf(text, 32, "%.*f", (int)fmax(0, fmin(12, 3 - floor(log10(fabs(x))))), x);
    return text;
}

/* A length with the unit that suits it. */
static const char *length_text(double metres, char text[48]) {
    const bool small = metres < CENTIMETRE, tiny = metres < 1e-4;
    snprintf(text, 48, "%.3g %s", metres * (tiny ? 1e6 : small ? 1e3 : 1e2), tiny ? "\xc2\xb5m" : small ? "mm" : "cm");
    return text;
}

static const char *times_text(double before, double after, char text[64]) {
    const double ratio = before / after, factor = ratio >= 1 ? ratio : 1 / ratio;
    if (!isfinite(factor) || fabs(log(factor)) < 0.005)
        snprintf(text, 64, "as before");
    else
        snprintf(text, 64, "%.*f times %s", factor < 9.95 ? 1 : 0, factor, ratio > 1 ? "smaller" : "larger");
    return text;
}

/* ---- what there is to say ---- */

static summary summarize(const writer *w, const app_retarget_case *c) {
    summary s = {NAN, NAN, NAN};
    for (int32_t i = 0; c && i < w->report->view.frame_count; i++) {
        bough_deviation d;
        bough_motion_compare(w->report->retarget, c->motion, c->target, i, &d);
        s.pause = fmax(s.pause, d.pause_rms); /* fmax ignores NAN */
        s.peak = fmax(s.peak, d.peak);
        s.tilt = fmax(s.tilt, d.tilt_peak);
    }
    return s;
}

static void choose_main_cases(writer *w) {
    for (int32_t i = 0; i < w->report->case_count; i++) {
        const app_retarget_case *c = &w->report->cases[i];
        if (!c->main || !app_page_works(c))
            continue;
        if (!w->before)
            w->before = c;
        else
            w->after = c;
    }
    w->first = summarize(w, w->before), w->last = summarize(w, w->after);
}

static const char *file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static const char *search_name(bough_search_kind kind) {
    static const char *const names[] = {
#define NAME(id, name, about) name,
        BOUGH_SEARCH_LIST(NAME)
#undef NAME
    };
    return (int)kind >= 0 && kind < BOUGH_SEARCH_KIND_COUNT ? names[kind] : "?";
}

/* "weight", or "hand and head", or "hand, head and 3 more". */
static void write_frames(const writer *w) {
    const bough_retarget_view *v = &w->report->view;
    const int32_t named = v->frame_count > 4 ? 3 : v->frame_count;
    for (int32_t i = 0; i < named; i++) {
        const bool last = i == named - 1 && named == v->frame_count;
        fputs(i == 0 ? "" : last ? " and " : ", ", w->out);
        app_page_text(w->out, v->frames[i]);
    }
    if (named < v->frame_count)
        fprintf(w->out, " and %d more", v->frame_count - named);
}

static void write_lead(const writer *w) {
    const bough_retarget_view *v = &w->report->view;
    char a[48], b[48], times[64];
    fprintf(w->out, "<p class=\"lead\">Bough searched for curves of %d motor%s with which ", v->motor_count,
            v->motor_count == 1 ? "" : "s");
    write_frames(w);
    fprintf(w->out, " follow%s the animation without vibrating", v->frame_count == 1 ? "s" : "");
    if (isfinite(w->first.pause) && isfinite(w->last.pause))
        fprintf(w->out, ": in the pauses the distance from the target is %s instead of %s (%s)",
                length_text(w->last.pause, a), length_text(w->first.pause, b),
                times_text(w->first.pause, w->last.pause, times));
    if (isfinite(w->first.peak) && isfinite(w->last.peak))
        fprintf(w->out, "%s at most %s instead of %s (%s)", isfinite(w->last.pause) ? ", at any time" : ": it is",
                length_text(w->last.peak, a), length_text(w->first.peak, b),
                times_text(w->first.peak, w->last.peak, times));
    fputs(".</p>\n", w->out);
}

static void write_tile(const writer *w, const char *title, const char *before, const char *after, const char *note) {
    fprintf(w->out,
            "<div class=\"tile\"><dt>%s</dt><dd class=\"big\">%s</dd><dd>%s</dd><dd class=\"from\">%s%s</dd></div>\n",
            title, after, note, before[0] ? "before: " : "", before);
}

static void write_tiles(const writer *w) {
    const app_retarget_report *r = w->report;
    char a[48], b[48], times[64];
    fputs("<dl class=\"tiles\">\n", w->out);
    if (isfinite(w->first.pause) && isfinite(w->last.pause))
        write_tile(w, "Vibration in pauses (rms)", length_text(w->first.pause, a), length_text(w->last.pause, b),
                   times_text(w->first.pause, w->last.pause, times));
    if (isfinite(w->first.peak) && isfinite(w->last.peak))
        write_tile(w, "Largest distance", length_text(w->first.peak, a), length_text(w->last.peak, b),
                   times_text(w->first.peak, w->last.peak, times));
    if (isfinite(w->first.tilt) && isfinite(w->last.tilt)) {
        snprintf(a, sizeof a, "%.3g\xc2\xb0", w->first.tilt / DEGREE);
        snprintf(b, sizeof b, "%.3g\xc2\xb0", w->last.tilt / DEGREE);
        write_tile(w, "Largest tilt", a, b, times_text(w->first.tilt, w->last.tilt, times));
    }
    snprintf(a, sizeof a, "%d iteration%s", r->view.iterations, r->view.iterations == 1 ? "" : "s");
    snprintf(times, sizeof times, "in %.3g s, %d gradients", r->seconds, r->view.gradients);
    write_tile(w, "Search", "", a, times);
    fputs("</dl>\n", w->out);
}

static void write_notes(const writer *w) {
    const bough_retarget_view *v = &w->report->view;
    fprintf(w->out, "<p class=\"small\">%d motor%s, %d tracked bod%s, %.6g s in %d steps of %.6g s", v->motor_count,
            v->motor_count == 1 ? "" : "s", v->frame_count, v->frame_count == 1 ? "y" : "ies", v->duration,
            v->step_count, v->dt);
    if (isfinite(v->first_value) && isfinite(v->value))
        fprintf(w->out, ". Search: %s, objective %.4g to %.4g; %s", search_name(v->search), v->first_value, v->value,
                v->converged ? "it ended when there was little left to gain" : "more iterations would find more");
    fprintf(w->out, ".%s</p>\n", v->frame_count > 1 ? " Numbers above are those of the worst of the bodies." : "");
    if (v->snaps > 0)
        fprintf(w->out,
                "<p class=\"warning\">The targets jump %d time%s: the robot snaps from one equilibrium to another, "
                "which no curve of a motor can make smooth. See where the plots have steps.</p>\n",
                v->snaps, v->snaps == 1 ? "" : "s");
}

/* ---- the table of cases ---- */

static void write_mark(const writer *w, int32_t index) {
    fprintf(w->out, "<span data-mark=\"%d\"></span>", index);
}

static void write_cell(const writer *w, double x) {
    char text[32];
    fprintf(w->out, "<td>%s</td>", plain(x, text));
}

static void write_row(const writer *w, int32_t index, int32_t frame) {
    const app_retarget_case *c = &w->report->cases[index];
    fprintf(w->out, "<tr%s><td>", c == w->after ? " class=\"after\"" : "");
    write_mark(w, index);
    app_page_text(w->out, c->name);
    fputs("</td>", w->out);
    if (!app_page_works(c)) {
        fputs("<td colspan=\"6\">failed: ", w->out);
        app_page_text(w->out, c->about ? c->about : "");
        fputs("</td></tr>\n", w->out);
        return;
    }
    bough_deviation d;
    bough_motion_compare(w->report->retarget, c->motion, c->target, frame, &d);
    write_cell(w, d.rms / CENTIMETRE);
    write_cell(w, d.peak / CENTIMETRE);
    write_cell(w, d.pause_rms / CENTIMETRE);
    write_cell(w, d.end_rms / CENTIMETRE);
    write_cell(w, d.tilt_peak / DEGREE);
    write_cell(w, c->delay);
    fputs("</tr>\n", w->out);
}

static void write_cases(const writer *w) {
    const bough_retarget_view *v = &w->report->view;
    fputs("<h2>Distance from target</h2>\n<div class=\"scroll\"><table id=\"cases\"><thead><tr><th></th>"
          "<th>rms<small>cm</small></th><th>peak<small>cm</small></th><th>in pauses<small>rms, cm</small></th>"
          "<th>after the end<small>rms, cm</small></th><th>tilt<small>peak, deg</small></th>"
          "<th>delay<small>s</small></th></tr></thead>\n",
          w->out);
    for (int32_t i = 0; i < v->frame_count; i++) {
        fputs("<tbody><tr><th colspan=\"7\" scope=\"rowgroup\">", w->out);
        app_page_text(w->out, v->frames[i]);
        fputs("</th></tr>\n", w->out);
        for (int32_t k = 0; k < w->report->case_count; k++)
            write_row(w, k, i);
        fputs("</tbody>\n", w->out);
    }
    fputs("</table></div>\n<dl class=\"key\">\n", w->out);
    for (int32_t k = 0; k < w->report->case_count; k++) {
        const app_retarget_case *c = &w->report->cases[k];
        fputs("<dt>", w->out);
        app_page_text(w->out, c->name);
        fputs("</dt><dd>", w->out);
        app_page_text(w->out, c->about ? c->about : "");
        fputs("</dd>\n", w->out);
    }
    fputs("</dl>\n", w->out);
}

/* ---- the table of motors ---- */

static double largest(const double *x, int32_t count) {
    double most = 0;
    for (int32_t k = 0; k < count; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}

/* The largest rate, acceleration and force of a motor; NAN where the case does not work. */
static void find_largest(const writer *w, const app_retarget_case *c, int32_t motor, double *scratch, double most[3]) {
    const int32_t count = w->report->view.step_count + 1;
    const size_t first = (size_t)motor * (size_t)count;
    most[0] = most[1] = most[2] = NAN;
    if (!c)
        return;
    app_page_accelerations(w->report, c, motor, scratch);
    most[0] = largest(c->motion->rates + first, count);
    most[1] = largest(scratch, count);
    most[2] = largest(c->motion->forces + first, count);
}

typedef enum { TURN, SLIDE, MIXED } units;

static units units_of(const bough_retarget_view *v) {
    int32_t slides = 0;
    for (int32_t i = 0; i < v->motor_count; i++)
        slides += v->slides[i];
    return slides == 0 ? TURN : slides == v->motor_count ? SLIDE : MIXED;
}

static void write_largest(const writer *w, const char *class, double x, double limit) {
    char text[32];
    const bool over = x > OVER * limit;
    fprintf(w->out, "<td class=\"%s%s\"%s>%s</td>", class, over ? " over" : "", over ? " title=\"over its limit\"" : "",
            plain(x, text));
}

static void write_motor(const writer *w, int32_t motor, double *scratch) {
    const bough_retarget_view *v = &w->report->view;
    const bough_motor_limits *l = &v->limits[motor];
    const double limits[] = {l->speed, l->acceleration, l->force}, unit = v->slides[motor] ? 1 : DEGREE;
    double before[3], after[3];
    char text[32];
    find_largest(w, w->before, motor, scratch, before);
    find_largest(w, w->after, motor, scratch, after);
    fputs("<tr><td>", w->out);
    app_page_text(w->out, v->motors[motor]);
    fputs("</td>", w->out);
    if (units_of(v) == MIXED)
        fprintf(w->out, "<td>%s</td>", v->slides[motor] ? "m, N" : "deg, N m");
    for (int i = 0; i < 3; i++) {
        const double scale = i < 2 ? unit : 1;
        write_largest(w, "start", before[i] / scale, limits[i] / scale);
        write_largest(w, "", after[i] / scale, limits[i] / scale);
        fprintf(w->out, "<td>%s</td>", isfinite(limits[i]) ? plain(limits[i] / scale, text) : "-");
    }
    fputs("</tr>\n", w->out);
}

static bool write_motors(const writer *w) {
    const bough_retarget_view *v = &w->report->view;
    double *scratch = malloc(((size_t)v->step_count + 1) * sizeof *scratch);
    if (!scratch)
        return false;
    static const char *const titles[][3] = {[TURN] = {"rate, deg/s", "acceleration, deg/s\xc2\xb2", "torque, N m"},
                                            [SLIDE] = {"rate, m/s", "acceleration, m/s\xc2\xb2", "force, N"},
                                            [MIXED] = {"rate, 1/s", "acceleration, 1/s\xc2\xb2", "torque or force"}};
    const units u = units_of(v);
    fprintf(w->out,
            "<h2>Motors</h2>\n<p class=\"small\">Largest values of the animation (before) and of the curves that were "
            "found (after). Those over a limit are red and bold.</p>\n<div class=\"scroll\"><table "
            "id=\"motor-table\"><thead><tr><th></th>%s",
            u == MIXED ? "<th></th>" : "");
    for (int i = 0; i < 3; i++)
        fprintf(w->out, "<th class=\"start\" colspan=\"3\">%s</th>", titles[u][i]);
    fprintf(w->out, "</tr>\n<tr><th></th>%s", u == MIXED ? "<th><small>in</small></th>" : "");
    for (int i = 0; i < 3; i++)
        fputs("<th class=\"start\"><small>before</small></th><th><small>after</small></th>"
              "<th><small>limit</small></th>",
              w->out);
    fputs("</tr></thead><tbody>\n", w->out);
    for (int32_t i = 0; i < v->motor_count; i++)
        write_motor(w, i, scratch);
    fputs("</tbody></table></div>\n<section id=\"motors\"></section>\n", w->out);
    free(scratch);
    return true;
}

/* ---- the page ---- */

static void write_head(const writer *w) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "script-src 'unsafe-inline'\">\n<title>Retargeting of ",
          w->out);
    app_page_text(w->out, file_of(w->report->scene));
    fprintf(w->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>Retargeting of ", app_page_style);
    app_page_text(w->out, file_of(w->report->scene));
    fputs("</h1>\n<div class=\"path\">", w->out);
    app_page_text(w->out, w->report->scene);
    fputs("</div>\n", w->out);
}

/* Checkboxes that switch the lines of a case, in all plots. */
static void write_bar(const writer *w) {
    fputs("<div class=\"bar\" role=\"group\" aria-label=\"Cases in the plots\">\n", w->out);
    for (int32_t i = 0; i < w->report->case_count; i++) {
        const app_retarget_case *c = &w->report->cases[i];
        if (!app_page_works(c))
            continue;
        fprintf(w->out, "<label><input type=\"checkbox\" value=\"%d\"%s>", i, c->main ? " checked" : "");
        write_mark(w, i);
        app_page_text(w->out, c->name);
        fputs("</label>\n", w->out);
    }
    fputs("<button id=\"all\" type=\"button\" hidden>Show all</button>\n</div>\n"
          "<p class=\"small hint\">Point at a plot to read values; drag to zoom, double click to see all again. With "
          "the keyboard: arrows, + and -, Escape.</p>\n<noscript><p>The plots are drawn by a script, which this "
          "browser does not run. All tables are complete.</p></noscript>\n",
          w->out);
}

static bool write_page(const writer *w) {
    write_head(w);
    write_lead(w);
    write_tiles(w);
    write_notes(w);
    write_cases(w);
    write_bar(w);
    fputs("<h2>Tracked bodies</h2>\n<p class=\"small\">In shaded times the animation pauses. The spectrum is that of "
          "the whole motion about its mean, by a window of Hann.</p>\n<section id=\"bodies\"></section>\n",
          w->out);
    bool good = write_motors(w);
    fputs("<h2>Energy</h2>\n<section id=\"energy\"></section>\n", w->out);
    if (w->report->round_count > 0)
        fputs("<h2>Search</h2>\n<section id=\"search\"></section>\n", w->out);
    fputs("</main>\n<script id=\"data\" type=\"application/json\">\n", w->out);
    good = good && app_page_data(w->out, w->report);
    fprintf(w->out, "</script>\n<script>\n%s</script>\n</body>\n</html>\n", app_page_script);
    return good;
}

/* Writes to the unfinished file. */
static int write_file(const app_retarget_report *report, const char *name, const char *path) {
    writer w = {.out = fopen(name, "w"), .report = report};
    if (!w.out)
        return app_fail_with("%s: cannot be written: %s", path, strerror(errno));
    choose_main_cases(&w);
    errno = 0;
    const bool good = write_page(&w), failed = ferror(w.out) != 0;
    if (fclose(w.out) == 0 && !failed && good)
        return APP_OK;
    return app_fail_with("%s: cannot be written: %s", path, good && errno ? strerror(errno) : "memory ran out");
}

int app_write_retarget_report(const app_retarget_report *report, const char *path) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    bough_context *ctx = bough_context_create(&def);
    bough_output *output = NULL;
    if (!ctx)
        return app_fail_with("%s: cannot be written: memory ran out", path);
    int status = bough_output_create(ctx, path, &output) ? app_fail(ctx) : APP_OK;
    if (status == APP_OK)
        status = write_file(report, bough_output_name(output), path);
    if (status != APP_OK)
        bough_output_discard(ctx, output);
    else if (bough_output_finish(ctx, output))
        status = app_fail(ctx);
    bough_context_destroy(ctx);
    return status;
}
