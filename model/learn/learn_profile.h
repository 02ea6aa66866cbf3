/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment that tshark runs in. What a user configured in Wireshark changes what tshark
 * prints: disabled protocols, preferences, Lua scripts. So tshark gets folders that do not exist as
 * the user's, and the same capture gives the same model for every user.
 */
#ifndef MODEL_LEARN_LEARN_PROFILE_H
#define MODEL_LEARN_LEARN_PROFILE_H

/* A copy of the environment without the user's folders, for posix_spawn(). NULL: out of memory. */
char **learn_profile_environment(void);
void learn_profile_free(char **environment);

#endif
