#include "base/context.h"
#include "base/file.h"
#include "material/elastic.h"

#define MATERIAL_COOKIE 0xB0061010u

static const char *const names[] = {
#define NAME_ENTRY(name, text, about) text,
    BOUGH_MATERIAL_LIST(NAME_ENTRY)
#undef NAME_ENTRY
};
static const char *const abouts[] = {
#define ABOUT_ENTRY(name, text, about) about,
    BOUGH_MATERIAL_LIST(ABOUT_ENTRY)
#undef ABOUT_ENTRY
};

bough_material bough_default_material(void) {
    return (bough_material){.cookie = MATERIAL_COOKIE,
                            .model = BOUGH_MATERIAL_STVK,
                            .young = 1e6,
                            .poisson = 0.4,
                            .density = 1000,
                            .mooney_ratio = 0.2};
}

const char *bough_material_name(bough_material_model model) {
    return names[model];
}

const char *bough_material_about(bough_material_model model) {
    return abouts[model];
}

bough_status bough_material_find(bough_context *ctx, const char *name, bough_material_model *model) {
    for (int i = 0; i < BOUGH_MATERIAL_MODEL_COUNT; i++)
        if (bo_equal_ignoring_case(name, names[i])) {
            *model = (bough_material_model)i;
            return BOUGH_OK;
        }
    const char *nearest = bo_nearest_word(name, names, BOUGH_MATERIAL_MODEL_COUNT);
    if (nearest)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "material model \"%s\" does not exist; did you mean \"%s\"?", name,
                       nearest);
    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                   "material model \"%s\" does not exist; there are linear, corotated, stvk, neo-hookean, "
                   "stable-neo-hookean, mooney-rivlin, arap",
                   name);
}

bough_status bough_material_check(bough_context *ctx, const bough_material *m) {
    if (m->cookie != MATERIAL_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the material was not made by bough_default_material()");
    if ((int)m->model < 0 || m->model >= BOUGH_MATERIAL_MODEL_COUNT)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "material model %d does not exist", (int)m->model);
    if (!(m->young > 0) || !isfinite(m->young))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "Young's modulus is %g Pa; it must be positive", m->young);
    if (!(m->poisson > -1 && m->poisson < 0.5))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "Poisson's ratio is %g; it must lie between -1 and 0.5", m->poisson);
    if (!(m->density > 0) || !isfinite(m->density))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the density is %g kg/m^3; it must be positive", m->density);
    if (!(m->mooney_ratio >= 0 && m->mooney_ratio <= 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "mooney_ratio is %g; it must lie between 0 and 1", m->mooney_ratio);
    return BOUGH_OK;
}

bo_elastic bo_elastic_of(const bough_material *m) {
    double mu = m->young / (2 * (1 + m->poisson));
    double lambda = m->young * m->poisson / ((1 + m->poisson) * (1 - 2 * m->poisson));
    bo_elastic e = {.model = m->model, .lambda = lambda, .mu = mu};
    switch (m->model) {
    case BOUGH_MATERIAL_STABLE_NEO_HOOKEAN:
        /* Smith et al. 2018, eq. 14 and 16: psi = a/2 (I1-3) + b/2 (J-c)^2 - a/2 log(I1+1). Matching the linear
         * moduli at rest gives a = 4/3 mu, b = lambda + 5/6 mu; P(I) = 0 gives c = 1 + a/b - a/(4b). */
        e.a = 4.0 / 3 * mu;
        e.b = lambda + 5.0 / 6 * mu;
        e.c = 1 + 0.75 * e.a / e.b;
        break;
    case BOUGH_MATERIAL_MOONEY_RIVLIN:
        /* psi = a (I1 J^-2/3 - 3) + b (I2 J^-4/3 - 3) + c/2 (J-1)^2 with mu = 2 (a + b) and bulk modulus c. */
        e.a = mu / 2 * (1 - m->mooney_ratio);
        e.b = mu / 2 * m->mooney_ratio;
        e.c = lambda + 2.0 / 3 * mu;
        break;
    case BOUGH_MATERIAL_ARAP:
        e.lambda = 0;
        break;
    case BOUGH_MATERIAL_LINEAR:
    case BOUGH_MATERIAL_COROTATED:
    case BOUGH_MATERIAL_STVK:
    case BOUGH_MATERIAL_NEO_HOOKEAN:
    case BOUGH_MATERIAL_MODEL_COUNT:
        break;
    }
    return e;
}
