#include "fem/drive.h"

#include "fem/body.h"

/* ---- making ---- */

void bo_drive_free(bough_context *ctx, bo_drive *drive) {
    for (int32_t c = 0; c < drive->curve_count; c++) {
        bo_curve_free(ctx, &drive->curves[c]);
        bo_free(ctx, drive->forces[c]);
        bo_free(ctx, drive->displacements[c]);
    }
    bo_free(ctx, drive->curves);
    bo_free(ctx, drive->forces);
    bo_free(ctx, drive->displacements);
    bo_free(ctx, drive->pressures);
    *drive = (bo_drive){0};
}

static bool reserve_curve(bough_context *ctx, bo_drive *drive) {
    size_t needed = (size_t)drive->curve_count + 1;
    size_t forces = drive->curve_capacity, displacements = drive->curve_capacity;
    return BO_RESERVE(ctx, drive->forces, forces, needed) &&
           BO_RESERVE(ctx, drive->displacements, displacements, needed) &&
           BO_RESERVE(ctx, drive->curves, drive->curve_capacity, needed);
}

bough_status bo_drive_add_curve(bough_context *ctx, bo_drive *drive, const char *name, int32_t count,
                                const double *times, const double *values) {
    if (!reserve_curve(ctx, drive))
        return BOUGH_ERROR_MEMORY;
    int32_t at = drive->curve_count++; /* from here on bo_drive_free() looks after it */
    drive->forces[at] = drive->displacements[at] = NULL;
    return bo_curve_make(ctx, name, count, times, values, &drive->curves[at]);
}

int32_t bo_drive_find(const bo_drive *drive, const char *name) {
    return bo_curve_find(drive->curve_count, drive->curves, name);
}

static bough_status need_vector(bough_context *ctx, const bough_body *body, double **vector) {
    if (!*vector)
        *vector = BO_NEW_ZEROS(ctx, double, bo_body_size(body));
    return *vector ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_drive_force(bough_context *ctx, bo_drive *drive, const bough_body *body, int32_t curve,
                            const int32_t *vertices, int32_t count, const double force[3]) {
    BO_TRY(need_vector(ctx, body, &drive->forces[curve]));
    return bo_body_share_force(ctx, body, vertices, count, force, drive->forces[curve]);
}

bough_status bo_drive_gravity(bough_context *ctx, bo_drive *drive, const bough_body *body, int32_t curve,
                              const double gravity[3]) {
    BO_TRY(need_vector(ctx, body, &drive->forces[curve]));
    bo_body_gravity_force(body, gravity, drive->forces[curve]);
    return BOUGH_OK;
}

bough_status bo_drive_add_pressure(bough_context *ctx, bo_drive *drive, bough_load_case *load_case, int32_t curve,
                                   const int32_t *faces, int32_t count, double pressure) {
    if (!BO_RESERVE(ctx, drive->pressures, drive->pressure_capacity, drive->pressure_count + 1))
        return BOUGH_ERROR_MEMORY;
    size_t first = load_case->pressure_count;
    BO_TRY(bough_load_case_add_pressure(ctx, load_case, faces, count, pressure));
    drive->pressures[drive->pressure_count++] = (bo_drive_pressure){curve, first, (size_t)count, pressure};
    return BOUGH_OK;
}

bough_status bo_drive_fix(bough_context *ctx, bo_drive *drive, bough_load_case *load_case, int32_t curve,
                          const int32_t *vertices, int32_t count, int axes, const double displacement[3]) {
    if (curve >= 0)
        BO_TRY(need_vector(ctx, load_case->body, &drive->displacements[curve]));
    BO_TRY(bough_load_case_fix(ctx, load_case, vertices, count, axes, curve < 0 ? displacement : NULL));
    drive->moves |= curve >= 0;
    for (int32_t c = 0; c < drive->curve_count; c++)
        for (int32_t i = 0; i < count && drive->displacements[c]; i++)
            for (int d = 0; d < 3; d++)
                if (axes >> d & 1)
                    drive->displacements[c][3 * vertices[i] + d] = c == curve ? displacement[d] : 0;
    return BOUGH_OK;
}

bool bo_drive_leads(const bo_drive *drive, const bough_load_case *load_case, unsigned char *led) {
    bool any = false;
    for (int32_t i = 0; i < bo_body_size(load_case->body); i++) {
        led[i] = load_case->fixed[i] && load_case->prescribed[i] != 0;
        for (int32_t c = 0; drive && drive->moves && c < drive->curve_count; c++)
            led[i] |= load_case->fixed[i] && drive->displacements[c] && drive->displacements[c][i] != 0;
        any |= led[i];
    }
    return any;
}

/* ---- at time t ---- */

void bo_drive_hold(const bo_drive *drive, const bough_load_case *load_case, double t, double *q, double *v) {
    const int32_t n = bo_body_size(load_case->body);
    for (int32_t i = 0; i < n; i++)
        if (load_case->fixed[i]) {
            q[i] = load_case->prescribed[i];
            if (v)
                v[i] = 0;
        }
    for (int32_t c = 0; drive && drive->moves && c < drive->curve_count; c++) {
        const double *d = drive->displacements[c];
        double value = bo_curve_at(&drive->curves[c], t), slope = bo_curve_slope(&drive->curves[c], t);
        for (int32_t i = 0; i < n && d; i++)
            if (load_case->fixed[i]) {
                q[i] += value * d[i];
                if (v)
                    v[i] += slope * d[i];
            }
    }
}

void bo_drive_add_loads(const bo_drive *drive, const bough_body *body, double t, double *force) {
    for (int32_t c = 0; drive && c < drive->curve_count; c++) {
        double value = bo_curve_at(&drive->curves[c], t);
        for (int32_t i = 0; i < bo_body_size(body) && drive->forces[c]; i++)
            force[i] += value * drive->forces[c][i];
    }
}

void bo_drive_set_pressures(const bo_drive *drive, double t, bo_pressure_face *faces) {
    for (size_t k = 0; drive && k < drive->pressure_count; k++) {
        const bo_drive_pressure *p = &drive->pressures[k];
        double pressure = p->pressure * bo_curve_at(&drive->curves[p->curve], t);
        for (size_t i = 0; i < p->count; i++)
            faces[p->first + i].pressure = pressure;
    }
}
