/* SPDX-License-Identifier: Apache-2.0 */
/* The loaders: from a file's text to a builder that is ready for builder_finish(). */
#ifndef MODEL_LOAD_H
#define MODEL_LOAD_H

#include "model/model_builder.h"

/* A version 3 file. */
int load_yaml(struct builder *builder, const char *text, size_t size);

/* A Samba v2 file. Sets *version_3 (and returns 0 with nothing built) when it is a version 3 file
 * written as JSON, which is YAML too. */
int load_samba(struct builder *builder, const char *text, size_t size, bool *version_3);

#endif
