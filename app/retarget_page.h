/* Parts of the report's page: escaped texts, the data of its plots, and its style and script. */
#ifndef BOUGH_APP_RETARGET_PAGE_H
#define BOUGH_APP_RETARGET_PAGE_H

#include "retarget_report.h"

/* ---- retarget_page.c ---- */

extern const char app_page_style[], app_page_script[];
/* Writes a text that HTML shows as it is, also within the quotes of an attribute. */
void app_page_text(FILE *out, const char *text);
/* Writes a JSON string that does not end the script it stands in. */
void app_page_string(FILE *out, const char *text);

/* ---- retarget_data.c ---- */

/* A case that was played and has something to be compared with. */
bool app_page_works(const app_retarget_case *c);
/* Fills step_count + 1 accelerations of a motor: of the curves where these drive the case, else differences of its
 * rates. */
void app_page_accelerations(const app_retarget_report *report, const app_retarget_case *c, int32_t motor,
                            double *accelerations);
/* Writes cases, axes and plots as one JSON object. Returns false when memory runs out. */
bool app_page_data(FILE *out, const app_retarget_report *report);

#endif
