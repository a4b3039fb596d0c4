/* Parts and ties that are chosen by patterns of names. */
#include "scene/assembly.h"

#include <string.h>

/* Goes back to the last star only: that which an earlier one could take, the last can too. */
bool bo_glob_matches(const char *pattern, const char *text) {
    const char *star = NULL, *from = text;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++, text++;
        } else if (star) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* "leaf17" is one of "leaf*". */
static char *family_of(bough_context *ctx, const char *name) {
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    char *family = BO_NEW_ARRAY(ctx, char, length + 2);
    if (family) {
        memcpy(family, name, length);
        memcpy(family + length, "*", 2);
    }
    return family;
}

static bool is_listed(const char *word, const char *const *words, int32_t count) {
    enum { MOST = 64 }; /* no sentence has more of them, and names without numbers are all families */
    for (int32_t i = 0; i < count && i < MOST; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* A pattern that matches nothing, with the nearest name or family of names that there is. */
static bough_status fail_pattern(bo_json at, const char *what, const char *pattern, const char *const *names,
                                 int32_t count) {
    bough_context *ctx = at.ctx;
    if (!strpbrk(pattern, "*?"))
        return bo_json_fail_word(at, what, pattern, names, count);
    const char **families = BO_NEW_ARRAY(ctx, const char *, count);
    bough_status status = families ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    int32_t kept = 0;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        char *family = family_of(ctx, names[i]);
        if (!family)
            status = BOUGH_ERROR_MEMORY;
        else if (is_listed(family, families, kept))
            bo_free(ctx, family);
        else
            families[kept++] = family;
    }
    if (status == BOUGH_OK)
        status = bo_json_fail_word(at, what, pattern, families, kept);
    for (int32_t i = 0; i < kept; i++)
        bo_free(ctx, (char *)families[i]);
    bo_free(ctx, families);
    return status;
}

bough_status bo_chooser_make(bough_context *ctx, const bo_assembly *assembly, bo_chooser *c) {
    const int32_t parts = assembly->part_count, components = assembly->component_count, ties = assembly->tie_count;
    *c = (bo_chooser){.assembly = assembly,
                      .part_names = BO_NEW_ARRAY(ctx, const char *, parts),
                      .component_names = BO_NEW_ARRAY(ctx, const char *, components),
                      .tie_names = BO_NEW_ARRAY(ctx, const char *, ties),
                      .chosen = BO_NEW_ZEROS(ctx, bool, parts),
                      .chosen_ties = BO_NEW_ZEROS(ctx, bool, ties)};
    if (!c->part_names || !c->component_names || !c->tie_names || !c->chosen || !c->chosen_ties)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < components; i++)
        c->component_names[i] = assembly->components[i].name;
    for (int32_t i = 0; i < parts; i++)
        c->part_names[i] = assembly->parts[i].name;
    for (int32_t i = 0; i < ties; i++)
        if (assembly->ties[i].name)
            c->tie_names[c->tie_name_count++] = assembly->ties[i].name;
    return BOUGH_OK;
}

void bo_chooser_free(bough_context *ctx, bo_chooser *c) {
    bo_free(ctx, c->part_names);
    bo_free(ctx, c->component_names);
    bo_free(ctx, c->tie_names);
    bo_free(ctx, c->chosen);
    bo_free(ctx, c->chosen_ties);
    *c = (bo_chooser){0};
}

/* A pattern that matches one of the names; NULL where there is nothing. */
static bough_status read_pattern(bo_json at, const char *what, const char *const *names, int32_t count,
                                 const char **pattern) {
    BO_TRY(bo_json_string(at, pattern));
    for (int32_t i = 0; i < count && *pattern; i++)
        if (bo_glob_matches(*pattern, names[i]))
            return BOUGH_OK;
    return *pattern ? fail_pattern(at, what, *pattern, names, count) : BOUGH_OK;
}

/* Leaves those chosen whose name, or component's name, matches. */
static bough_status narrow(bo_json at, const bo_chooser *c, bool by_component) {
    const bo_assembly *assembly = c->assembly;
    const char *pattern = NULL, *const *names = by_component ? c->component_names : c->part_names;
    const int32_t name_count = by_component ? assembly->component_count : assembly->part_count;
    BO_TRY(read_pattern(at, by_component ? "component " : "part ", names, name_count, &pattern));
    for (int32_t i = 0; i < assembly->part_count && pattern; i++)
        c->chosen[i] = c->chosen[i] && bo_glob_matches(pattern, names[by_component ? assembly->parts[i].component : i]);
    return BOUGH_OK;
}

bough_status bo_choose(bo_json parts, bo_json component, bo_chooser *c) {
    memset(c->chosen, true, (size_t)c->assembly->part_count);
    BO_TRY(narrow(parts, c, false));
    BO_TRY(narrow(component, c, true));
    c->count = 0;
    for (int32_t i = 0; i < c->assembly->part_count; i++)
        c->count += c->chosen[i];
    return BOUGH_OK;
}

bough_status bo_choose_ties(bo_json at, bo_chooser *c) {
    const char *pattern = NULL;
    if (c->tie_name_count == 0)
        return bo_json_fail(at, "there is no tie with a \"name\" in the scene");
    BO_TRY(read_pattern(at, "tie ", c->tie_names, c->tie_name_count, &pattern));
    c->tie_count = 0;
    for (int32_t i = 0; i < c->assembly->tie_count; i++) {
        const char *name = c->assembly->ties[i].name;
        c->chosen_ties[i] = name && bo_glob_matches(pattern, name);
        c->tie_count += c->chosen_ties[i];
    }
    return BOUGH_OK;
}
