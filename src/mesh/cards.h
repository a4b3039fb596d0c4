/* Files made of keyword lines "*KEYWORD ..." and the data lines behind each, which may include other files (.veg,
 * .inp). Includes are textual: the lines of the included file stand where the *INCLUDE line stood. */
#ifndef BO_MESH_CARDS_H
#define BO_MESH_CARDS_H

#include "mesh/scanner.h"

#include <sys/types.h>

#define BO_CARDS_DEPTH 16 /* files within files; real ones nest two or three deep */

typedef struct bo_card_file {
    bo_scanner scanner; /* stands at the start of the line being looked at */
    bo_file file;       /* owned by included files only */
    char *path;
    dev_t device;
    ino_t inode;
    bool started;
} bo_card_file;

typedef struct bo_cards {
    bough_context *ctx;
    bo_scanner *s; /* of the file the current line is in: for bo_scan_fail */
    bo_card_file files[BO_CARDS_DEPTH + 1];
    int depth;
    int32_t include_count;
    size_t byte_count; /* of all files read so far */
    bool held;         /* the current line comes again */
    const char *text;  /* the current line without blanks at either end; valid until the next one is taken */
    size_t length, field_at;
    const char *line_comment; /* lines that begin so are skipped */
    char comment;             /* the rest of a line behind it is skipped; 0: none */
    bool blanks_separate;     /* fields end at blanks as well as at commas */
} bo_cards;

/* `s` is the scanner of the outermost file. Set the three format fields afterwards. */
void bo_cards_begin(bo_cards *c, const bo_scanner *s);
void bo_cards_end(bo_cards *c);
/* Back to the first line of the outermost file. */
void bo_cards_rewind(bo_cards *c);

/* The next line that says something; includes are followed. *found is false at the end of the outermost file. */
bough_status bo_cards_line(bo_cards *c, bool *found);
/* The same, but a keyword line is left for later and *found is false. */
bough_status bo_cards_data(bo_cards *c, bool *found);
/* Lets the current line come again. */
static inline void bo_cards_hold(bo_cards *c) {
    c->held = true;
}
static inline bool bo_cards_at_keyword(const bo_cards *c) {
    return c->length > 0 && c->text[0] == '*';
}
/* The lines of file `name` (beside the current one) come next. */
bough_status bo_cards_include(bo_cards *c, const char *name, size_t length);

/* The next field of the current line; commas inside double quotes do not count. A comma at the end of the line is
 * followed by one empty field. False behind the last one. */
bool bo_cards_field(bo_cards *c, const char **text, size_t *length);
/* Fields as numbers; doubles must be finite. */
bough_status bo_cards_int(bo_cards *c, const char *what, int64_t *value);
bough_status bo_cards_double(bo_cards *c, const char *what, double *value);

/* True when a keyword field "* Solid Section" says `word` ("SOLIDSECTION"): blanks and letter case do not count. */
bool bo_cards_keyword_is(const char *text, size_t length, const char *word);

/* Cuts blanks from both ends. */
void bo_trim(const char **text, size_t *length);

#endif
