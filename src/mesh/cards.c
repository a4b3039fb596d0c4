#include "mesh/cards.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INCLUDE_LIMIT 1000 /* in all: files that include each other in a fan would otherwise be read 2^depth times */
#define INCLUDE_NAME_LIMIT 4096

void bo_cards_begin(bo_cards *c, const bo_scanner *s) {
    memset(c, 0, sizeof *c);
    c->ctx = s->ctx;
    c->line_comment = "";
    c->files[0].scanner = *s;
    struct stat info;
    if (stat(s->path, &info) == 0)
        c->files[0].device = info.st_dev, c->files[0].inode = info.st_ino;
    c->s = &c->files[0].scanner;
    c->byte_count = s->size;
}

static void pop(bo_cards *c) {
    bo_card_file *top = &c->files[c->depth--];
    bo_file_free(c->ctx, &top->file);
    bo_free(c->ctx, top->path);
    c->s = &c->files[c->depth].scanner;
}

void bo_cards_end(bo_cards *c) {
    while (c->depth > 0)
        pop(c);
}

void bo_cards_rewind(bo_cards *c) {
    bo_cards_end(c);
    c->files[0].started = false;
    c->s->at = 0;
    c->s->line = 1;
    c->held = false;
    c->include_count = 0; /* the limit is on one passage through the file */
}

void bo_trim(const char **text, size_t *length) {
    while (*length && isspace((unsigned char)**text))
        ++*text, --*length;
    while (*length && isspace((unsigned char)(*text)[*length - 1]))
        --*length;
}

/* Tells whether the included file lies in the folder of the outermost file or below it, once "..", absolute names and
 * links are followed. Sentences about a file quote its words, so a mesh from a stranger must not name others' files;
 * nor must it learn which of them exist. A file that does not exist is judged by its name. */
static bool is_inside(const bo_cards *c, const char *name, const char *path) {
    char folder[PATH_MAX], file[PATH_MAX];
    const char *outermost = c->files[0].scanner.path, *slash = strrchr(outermost, '/');
    const int length = slash ? (int)(slash - outermost) + 1 : 0;
    if (snprintf(file, sizeof file, "%.*s", length, outermost) >= (int)sizeof file ||
        !realpath(length ? file : ".", folder))
        return false;
    if (!realpath(path, file))
        return name[0] != '/' && !strstr(name, "..");
    const size_t prefix = strcmp(folder, "/") ? strlen(folder) : 0;
    return !strncmp(file, folder, prefix) && file[prefix] == '/';
}

static bough_status check_include(const bo_cards *c, const char *name, const char *path, struct stat *info) {
    if (!is_inside(c, name, path))
        return bo_scan_fail(c->s, "the included file %s is not in the folder of the mesh file; copy it there", path);
    if (stat(path, info) != 0)
        return bo_scan_fail(c->s, "the included file %s cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(info->st_mode)) /* a device or pipe may never end */
        return bo_scan_fail(c->s, "the included file %s is not a regular file", path);
    for (int i = 0; i <= c->depth; i++)
        if (c->files[i].device == info->st_dev && c->files[i].inode == info->st_ino)
            return bo_scan_fail(c->s, "%s includes itself", path);
    return BOUGH_OK;
}

bough_status bo_cards_include(bo_cards *c, const char *name, size_t length) {
    if (length == 0 || length > INCLUDE_NAME_LIMIT)
        return bo_scan_fail(c->s, "the name of the included file is %s", length ? "too long" : "missing");
    if (c->depth == BO_CARDS_DEPTH)
        return bo_scan_fail(c->s, "files are included more than %d deep", BO_CARDS_DEPTH);
    if (++c->include_count > INCLUDE_LIMIT)
        return bo_scan_fail(c->s, "more than %d files are included", INCLUDE_LIMIT);
    bo_card_file next = {0};
    struct stat info = {0};
    char *copy = bo_strndup(c->ctx, name, length);
    next.path = copy ? bo_path_beside(c->ctx, c->s->path, copy) : NULL;
    bough_status status = next.path ? check_include(c, copy, next.path, &info) : BOUGH_ERROR_MEMORY;
    bo_free(c->ctx, copy);
    if (status == BOUGH_OK)
        status = bo_file_read(c->ctx, next.path, &next.file);
    if (status != BOUGH_OK) {
        bo_free(c->ctx, next.path);
        return status;
    }
    next.device = info.st_dev, next.inode = info.st_ino;
    bo_scan_begin(&next.scanner, c->ctx, next.path, &next.file);
    c->byte_count += next.file.size;
    c->files[++c->depth] = next;
    c->s = &c->files[c->depth].scanner;
    return BOUGH_OK;
}

/* Goes to the next line of the innermost file. */
static bool step(bo_cards *c) {
    bo_card_file *file = &c->files[c->depth];
    if (file->started)
        bo_scan_next_line(c->s);
    file->started = true;
    if (c->s->at >= c->s->size)
        return false;
    c->text = c->s->data + c->s->at;
    size_t left = bo_scan_left(c->s);
    const char *end = memchr(c->text, '\n', left);
    c->length = end ? (size_t)(end - c->text) : left;
    const char *comment = c->comment ? memchr(c->text, c->comment, c->length) : NULL;
    if (comment)
        c->length = (size_t)(comment - c->text);
    bo_trim(&c->text, &c->length);
    return true;
}

static bool says_nothing(const bo_cards *c) {
    size_t n = strlen(c->line_comment);
    return c->length == 0 || (n && c->length >= n && memcmp(c->text, c->line_comment, n) == 0);
}

/* "*INCLUDE name" or "*INCLUDE, INPUT=name". */
static bool names_include(bo_cards *c, const char **name, size_t *length) {
    static const char keyword[] = "*INCLUDE", input[] = "INPUT";
    size_t n = sizeof keyword - 1, m = sizeof input - 1;
    if (c->length < n || !bo_word_is_ignoring_case(c->text, n, keyword) ||
        (c->length > n && c->text[n] != ',' && !isspace((unsigned char)c->text[n])))
        return false;
    *name = c->text + n;
    *length = c->length - n;
    bo_trim(name, length);
    if (*length && **name == ',')
        ++*name, --*length;
    bo_trim(name, length);
    if (*length > m && bo_word_is_ignoring_case(*name, m, input)) {
        const char *rest = *name + m;
        size_t left = *length - m;
        bo_trim(&rest, &left);
        if (left && *rest == '=') {
            *name = rest + 1, *length = left - 1;
            bo_trim(name, length);
        }
    }
    if (*length >= 2 && **name == '"' && (*name)[*length - 1] == '"')
        ++*name, *length -= 2;
    return true;
}

bough_status bo_cards_line(bo_cards *c, bool *found) {
    *found = true;
    c->field_at = 0;
    if (c->held) {
        c->held = false;
        return BOUGH_OK;
    }
    for (;;) {
        if (!step(c)) {
            if (c->depth == 0) {
                *found = false;
                c->length = 0;
                return BOUGH_OK;
            }
            pop(c);
            continue;
        }
        const char *name;
        size_t length;
        if (says_nothing(c))
            continue;
        if (!names_include(c, &name, &length))
            return BOUGH_OK;
        BO_TRY(bo_cards_include(c, name, length));
    }
}

bough_status bo_cards_data(bo_cards *c, bool *found) {
    BO_TRY(bo_cards_line(c, found));
    if (*found && bo_cards_at_keyword(c)) {
        bo_cards_hold(c);
        *found = false;
    }
    return BOUGH_OK;
}

bool bo_cards_field(bo_cards *c, const char **text, size_t *length) {
    const char *line = c->text;
    size_t at = c->field_at;
    if (c->blanks_separate)
        while (at < c->length && isspace((unsigned char)line[at]))
            at++;
    if (at >= c->length + !c->blanks_separate || c->length == 0)
        return false;
    size_t begin = at;
    bool quoted = false;
    for (; at < c->length; at++) {
        if (line[at] == '"')
            quoted = !quoted;
        else if (!quoted && (line[at] == ',' || (c->blanks_separate && isspace((unsigned char)line[at]))))
            break;
    }
    *text = line + begin;
    *length = at - begin;
    bo_trim(text, length);
    if (c->blanks_separate) /* "a , b" has one separator */
        while (at < c->length && isspace((unsigned char)line[at]))
            at++;
    bool comma = at < c->length && line[at] == ',';
    c->field_at = at + (comma || !c->blanks_separate);
    return true;
}

bough_status bo_cards_int(bo_cards *c, const char *what, int64_t *value) {
    const char *text;
    size_t length;
    if (!bo_cards_field(c, &text, &length))
        return bo_scan_fail(c->s, "the line ends where %s should stand", what);
    return bo_parse_int(text, length, value) ? BOUGH_OK : bo_scan_fail_word(c->s, what, text, length);
}

bough_status bo_cards_double(bo_cards *c, const char *what, double *value) {
    const char *text;
    size_t length;
    if (!bo_cards_field(c, &text, &length))
        return bo_scan_fail(c->s, "the line ends where %s should stand", what);
    if (!bo_parse_double(text, length, value))
        return bo_scan_fail_word(c->s, what, text, length);
    return isfinite(*value) ? BOUGH_OK : bo_scan_fail(c->s, "%s is not a finite number", what);
}

bool bo_cards_keyword_is(const char *text, size_t length, const char *word) {
    if (length == 0 || text[0] != '*')
        return false;
    for (size_t i = 1; i < length; i++) {
        if (isspace((unsigned char)text[i]))
            continue;
        if (!*word || toupper((unsigned char)text[i]) != *word++)
            return false;
    }
    return *word == 0;
}
