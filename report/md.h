/*
 * Markdown by construction, for GitHub, GitLab and whoever else renders it.
 *
 * What a profile says is text and nothing else: no markup, no HTML, no link, no mention, no
 * reference to an issue, no command of a comment.  Private to report/.
 */
#ifndef REPORT_MD_H
#define REPORT_MD_H

#include "base/out.h"

/* One line; good in a table's cell, too. */
void md_text(struct out *o, struct str text);
/* A row of a table. */
void md_row(struct out *o, const struct str *cells, ptrdiff_t count);
/* A line of a list. */
void md_item(struct out *o, struct str text);
/* Lines stay lines. */
void md_lines(struct out *o, struct str text);
/* Text inside HTML, between tags. */
void md_html(struct out *o, struct str text);
/* A code block whose fence is longer than any in the text. */
void md_block(struct out *o, struct str text);

#endif
