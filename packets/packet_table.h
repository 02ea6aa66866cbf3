/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet table: everything about each packet that clients of a domain controller send, except
 * how to send it. A packet is one `protocol:opcode`, named as Wireshark names it (opnums of the
 * Microsoft Open Specifications for RPC).
 *
 * The table is data. The model reads from it which details a packet may have. traffic-learn and
 * recordings read which packets are replies or further messages of another. traffic-replay reads
 * what a run needs. protocols/ binds a player to each row: the function that plays the packet. The
 * table in traffic-model(5) is generated from it.
 */
#ifndef PACKETS_PACKET_TABLE_H
#define PACKETS_PACKET_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum packet_kind {
    PACKET_OPERATION, /* is sent and timed */
    PACKET_STATE,     /* changes what the conversation does next (a hint, an unbind); not timed */
    PACKET_SILENT     /* nothing is played: a reply, or what another packet's play implies */
};

/* Connections that a client holds open for the rest of a conversation, once it plays a packet of
 * the protocol. */
enum packet_connection {
    PACKET_CONNECTION_SMB = 1,
    PACKET_CONNECTION_NETLOGON = 2,
    PACKET_CONNECTION_SAMR = 4,
    PACKET_CONNECTION_DRSUAPI = 8,
    PACKET_CONNECTION_LDAP = 16,   /* one per open LDAP connection: see packet_row.opens */
    PACKET_CONNECTION_BRIEF = 32,  /* for one exchange only: one at a time */
    PACKET_CONNECTION_LOCATOR = 64 /* netlogon's beside the secure channel */
};

/* Accounts and keys that playing a packet needs. */
enum packet_need {
    PACKET_NEEDS_KERBEROS = 1,    /* the conversation uses Kerberos from then on */
    PACKET_NEEDS_MACHINE = 2,     /* a machine account */
    PACKET_NEEDS_MACHINE_KEY = 4, /* its Kerberos key, wherever Kerberos is used */
    PACKET_NEEDS_ADMIN_KEY = 8,   /* the administrator's, wherever Kerberos is used */
    PACKET_NEEDS_SAMR_KEY = 16    /* the administrator's, unless --samr-as-user is given */
};

/* How the fields 9 to 15 of a traffic-summary text, and the details of Samba's models, spell a
 * packet's details. */
enum packet_columns {
    PACKET_COLUMNS_NONE,
    PACKET_COLUMNS_EMPTY,   /* as Samba's script writes them, without any of its details */
    PACKET_COLUMNS_SEARCH,  /* scope, base, filter, attributes */
    PACKET_COLUMNS_BIND,    /* number, name and OID of the mechanism */
    PACKET_COLUMNS_NETLOGON /* always "Netlogon" as the attribute */
};

/* A protocol: what its packets have in common. */
struct packet_protocol {
    const char *name; /* "ldap" */
    bool udp;
    /* Requests and replies have the same opcode, so only the direction tells them apart. */
    bool two_sided;
    /* Only a domain controller answers it (--server dc). */
    bool needs_dc;
    bool over_smb;     /* a file server answers it, too (--server smb) */
    bool in_loadfiles; /* only loadfiles contain it, no models and recordings */
    /* Some packets have further messages that recordings join with the first (packet_row.legs,
     * packet_row.refused_by). */
    bool joins;
    unsigned connections; /* of enum packet_connection */
    unsigned needs;       /* of enum packet_need */
};

/* One allowed value of a PACKET_WORD field. */
struct packet_word {
    const char *name;
    uint64_t value; /* what the player reads: see packet_words.h */
    const char *of; /* name is an alias of this one, which is stored instead; NULL: no alias */
    unsigned needs; /* of enum packet_need, in addition to the packet's */
};

enum packet_rule_type {
    PACKET_WORD,       /* one of words */
    PACKET_FILTER,     /* LDAP filter without values (RFC 4515); parsed by the player */
    PACKET_PATTERN,    /* DN pattern: "CN,CN,DC,DC" or empty */
    PACKET_NAME,       /* letters, digits, '.', '-', '_' */
    PACKET_ATTRIBUTES, /* list of attribute names */
    PACKET_OID,        /* one OID */
    PACKET_OIDS,       /* list of at most max OIDs */
    PACKET_FLAG,       /* true or false */
    PACKET_NUMBER,     /* whole number from min to max, decimal or 0x... */
    PACKET_RRTYPE      /* DNS type: A, SRV, TYPE65 */
};

/* A field of a packet's details. */
struct packet_rule {
    const char *key;
    enum packet_rule_type type;
    const struct packet_word *words; /* PACKET_WORD: ended by a row without a name */
    uint64_t min, max;               /* PACKET_NUMBER; max: PACKET_OIDS */
    const char *ranges;              /* PACKET_NUMBER: "1-9 11-13"; NULL: all from min to max */
    const char *usual;               /* the default: value of forms without the field; NULL: none */
    const char *not_with, *not_value; /* forms whose field not_with is not_value cannot have it */
    const char *meaning;              /* for the manual page, in mdoc */
};

/* Further messages that look like the packet itself. */
struct packet_legs {
    /* true: recordings omit them; false: each is a packet, but not an operation. */
    bool joined;
    const char *field, *value; /* only forms with this value have them; NULL: all */
    const char *first;         /* the field that only the first message has; NULL: none */
};

enum { PACKET_RULES_MAX = 8 };

/* A packet. */
struct packet_row {
    const struct packet_protocol *protocol;
    const char *opcode;      /* "3", "0x72", "" (the hint `kerberos:`), "*": every other opcode */
    const char *description; /* "searchRequest", as in reports */
    enum packet_kind kind;
    bool reply;          /* only servers send it */
    const char *replies; /* opcodes of its replies, "4 5 19"; NULL: none, or a two-sided protocol */
    /* Opcode of a reply after which the same client sends the request again, as part of the same
     * exchange. NULL: none. */
    const char *refused_by;
    const struct packet_legs *legs; /* NULL: one message */
    int opens;                      /* LDAP connections that it opens (1) or closes (-1) */
    unsigned needs;                 /* of enum packet_need, in addition to the protocol's */
    unsigned connections;           /* of enum packet_connection, likewise */
    const char *option; /* option of traffic-replay without which it is not played; NULL: none */
    enum packet_columns columns;
    const struct packet_rule *rules; /* its details; ended by a row without a key; NULL: none */
};

/* The row for a packet, or NULL. Looks for the opcode first, then for "*". */
const struct packet_row *packet_row_find(const char *protocol, const char *opcode);

/* As packet_row_find(), for names in models and recordings: NULL for packets of loadfiles. */
const struct packet_row *packet_row_find_in_model(const char *protocol, const char *opcode);

/* A protocol of the table, or NULL. */
const struct packet_protocol *packet_protocol_find(const char *protocol);

/* All rows, protocol by protocol. */
const struct packet_row *packet_rows(size_t *count);

/* Adds rows, ended by one without a protocol, which take precedence over the table: for tests and
 * benchmarks. Call it before any thread reads the table. NULL removes them. */
void packet_rows_add(const struct packet_row *rows);

/* Whether word is one of the space-separated words. */
bool packet_word_in(const char *words, const char *word);

#endif
