/* SPDX-License-Identifier: Apache-2.0 */
/* Loaders: from the text of a file to a builder that is ready for builder_finish(). text is
 * terminated. */
#ifndef MODEL_LOAD_PRIVATE_H
#define MODEL_LOAD_PRIVATE_H

#include "model/model_builder_private.h"

/* Loads a version 3 file. */
int load_yaml(struct builder *builder, const char *text, size_t size);

/* Loads a Samba v2 file. If it is a version 3 file written as JSON, which is YAML too, sets
 * *version_3, adds nothing and returns 0. */
int load_samba(struct builder *builder, const char *text, size_t size, bool *version_3);

/* Adds the ends that a Samba v2 file lacks, once transitions know where they lead. start is the
 * history in which conversations start. */
int load_samba_add_ends(struct builder *builder, uint32_t start);

#endif
