/* A small strict reader of XML: elements and attributes, with places for complaints. Comments, declarations, text and
 * CDATA are skipped. Document types are refused, and with them all entities but the five of XML: a file can say
 * neither "read that file" nor "write this a billion times". Memory is in proportion to the file. */
#ifndef BO_SCENE_XML_H
#define BO_SCENE_XML_H

#include "base/file.h"

typedef struct bo_xml_attribute {
    const char *name, *value; /* with entities resolved */
    int32_t line, column;
} bo_xml_attribute;

typedef struct bo_xml_element {
    const char *name;
    int32_t parent, first_child, next; /* elements; -1: none. Children follow their parent in the order of the file */
    int32_t first_attribute, attribute_count;
    int32_t line, column;
} bo_xml_element;

/* Zeros are an empty one. */
typedef struct bo_xml {
    bough_context *ctx;
    const char *path; /* as the user named it; belongs to the caller of bo_xml_load */
    bo_file file;     /* strings point into it */
    int32_t element_count, attribute_count;
    bo_xml_element *elements; /* the first is the root */
    bo_xml_attribute *attributes;
    int32_t warning_count;
} bo_xml;

/* Errors read "file:line:column: reason". `format` is what the file is, for sentences. To be freed, also when it fails.
 */
bough_status bo_xml_load(bough_context *ctx, const char *path, const char *format, bo_xml *xml);
void bo_xml_free(bo_xml *xml);

/* ---- moving ---- */

/* The first child, and the next sibling, of this name (NULL: of any); NULL: there is none. */
const bo_xml_element *bo_xml_child(const bo_xml *xml, const bo_xml_element *element, const char *name);
const bo_xml_element *bo_xml_next(const bo_xml *xml, const bo_xml_element *element, const char *name);
bool bo_xml_is(const bo_xml_element *element, const char *name);

/* ---- complaining ---- */

/* Keeps "file:line:column: <name>: sentence" and returns BOUGH_ERROR_FORMAT, or BOUGH_ERROR_UNSUPPORTED: the file is
 * right, Bough is not enough. */
bough_status bo_xml_fail(const bo_xml *xml, const bo_xml_element *at, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));
bough_status bo_xml_refuse(const bo_xml *xml, const bo_xml_element *at, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));
/* The same as a warning; of one file only the first twenty are heard. */
void bo_xml_warn(bo_xml *xml, const bo_xml_element *at, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- getting ---- */

/* NULL: the attribute is absent. */
const char *bo_xml_get(const bo_xml *xml, const bo_xml_element *element, const char *name);
bough_status bo_xml_must(const bo_xml *xml, const bo_xml_element *element, const char *name, const char **value);
/* Finite numbers between blanks; *values stay where the attribute is absent. element may be NULL: nothing is there. */
bough_status bo_xml_numbers(const bo_xml *xml, const bo_xml_element *element, const char *name, int count,
                            double *values);
/* The same where the attribute must be there. */
bough_status bo_xml_need_numbers(const bo_xml *xml, const bo_xml_element *element, const char *name, int count,
                                 double *values);

#endif
