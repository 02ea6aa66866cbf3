/* SPDX-License-Identifier: Apache-2.0 */
#include "model/shape.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ATTRIBUTE_MAX = 128, CLASS_MAX = 64, NESTING_MAX = 64 };

struct shape_scan {
    const char *at;
    char *shape;
    size_t used, size;
    unsigned nesting;
};

static bool is_rdn_type(const char *text, size_t length);
static const char *skip_value(const char *at);
static int scan_filter(struct shape_scan *scan);
static int shape_put(struct shape_scan *scan, const char *text);
static int scan_comparison(struct shape_scan *scan);
static bool class_name(const char *value, char *name, size_t size);
static bool is_class(const char *text);
static bool is_oid(const char *text, size_t length);

int shape_of_dn(const char *dn, char *shape, size_t size)
{
    size_t used = 0;
    bool further = false; /* only the first part of a multi-valued RDN counts */
    shape[0] = '\0';
    for (const char *at = dn; *at;) {
        at += strspn(at, " ");
        size_t length = strcspn(at, "=,+ ");
        if (!is_rdn_type(at, length))
            return -EINVAL;
        if (used + length + 2 > size)
            return -ENOSPC;
        if (!further && used > 0)
            shape[used++] = ',';
        for (size_t i = 0; i < length && !further; i++)
            shape[used++] = (char)toupper((unsigned char)at[i]);
        shape[used] = '\0';
        at += length + strspn(at + length, " ");
        if (*at == '=')
            at = skip_value(at + 1);
        further = *at == '+';
        at += *at != '\0';
        if (at[-1] != '\0' && *at == '\0' && (at[-1] == ',' || at[-1] == '+'))
            return -EINVAL;
    }
    return 0;
}

/* Only known types of RDNs are accepted, because a part of a truncated value could look like a
 * type. */
static bool is_rdn_type(const char *text, size_t length)
{
    static const char *const types[] = {"CN", "OU",  "DC",     "O",  "C",  "L",
                                        "ST", "UID", "STREET", "SN", "GN", "E"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i]) == length && strncasecmp(text, types[i], length) == 0)
            return true;
    return false;
}

/* The end of the value of an RDN: a comma, semicolon or + that is neither escaped nor quoted. */
static const char *skip_value(const char *at)
{
    bool quoted = false;
    for (; *at && (quoted || (*at != ',' && *at != ';' && *at != '+')); at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '"')
            quoted = !quoted;
    }
    return at;
}

int shape_of_filter(const char *filter, char *shape, size_t size)
{
    struct shape_scan scan = {.at = filter, .shape = shape, .size = size};
    shape[0] = '\0';
    int result = scan_filter(&scan);
    return result == 0 && *scan.at ? -EINVAL : result;
}

static int scan_filter(struct shape_scan *scan)
{
    char operator[3] = "(";
    int result;
    if (*scan->at != '(' || ++scan->nesting > NESTING_MAX)
        return -EINVAL;
    scan->at++;
    if (*scan->at == '&' || *scan->at == '|' || *scan->at == '!') {
        operator[1] = * scan->at++;
        result = shape_put(scan, operator);
        while (result == 0 && *scan->at == '(')
            result = scan_filter(scan);
        if (result == 0)
            result = shape_put(scan, ")");
    } else {
        result = scan_comparison(scan);
    }
    scan->nesting--;
    if (result < 0)
        return result;
    return *scan->at++ == ')' ? 0 : -EINVAL;
}

static int shape_put(struct shape_scan *scan, const char *text)
{
    size_t length = strlen(text);
    if (scan->used + length + 1 > scan->size)
        return -ENOSPC;
    memcpy(scan->shape + scan->used, text, length + 1);
    scan->used += length;
    return 0;
}

/* "cn=x", "cn>=x", "cn:dn:1.2.3:=x", "cn": up to the closing parenthesis. */
static int scan_comparison(struct shape_scan *scan)
{
    char attribute[ATTRIBUTE_MAX + 1], value[SHAPE_SIZE / 8],
        comparison[ATTRIBUTE_MAX + CLASS_MAX + 8];
    size_t length = strcspn(scan->at, "=><~:()");
    if (length == 0 || length > ATTRIBUTE_MAX)
        return -EINVAL;
    memcpy(attribute, scan->at, length);
    attribute[length] = '\0';
    scan->at += length;
    bool equal = *scan->at == '=';
    const char *start = scan->at + equal;
    if (*scan->at == '(')
        return -EINVAL;
    /* Parentheses in a value are escaped (RFC 4515 3). */
    scan->at = start + strcspn(start, "()");
    if (*scan->at != ')')
        return -EINVAL;
    length = (size_t)(scan->at - start);
    if (!equal || length >= sizeof value)
        length = 0;
    snprintf(value, sizeof value, "%.*s", (int)length, start);
    int result = shape_of_comparison(attribute, value, comparison, sizeof comparison);
    return result == 0 ? shape_put(scan, comparison) : result;
}

int shape_of_comparison(const char *attribute, const char *value, char *shape, size_t size)
{
    char name[CLASS_MAX + 1];
    int length;
    if (!shape_is_attribute(attribute))
        return -EINVAL;
    bool kept = strcmp(value, "*") == 0;
    if (kept)
        snprintf(name, sizeof name, "*");
    else if (strcasecmp(attribute, "objectClass") == 0 ||
             strcasecmp(attribute, "objectCategory") == 0)
        kept = class_name(value, name, sizeof name);
    length = kept ? snprintf(shape, size, "(%s=%s)", attribute, name)
                  : snprintf(shape, size, "(%s)", attribute);
    return length > 0 && (size_t)length < size ? 0 : -ENOSPC;
}

/* objectCategory may be the DN of its class in the schema, whose first value is the name. */
static bool class_name(const char *value, char *name, size_t size)
{
    size_t length;
    if (strncasecmp(value, "CN=", 3) == 0)
        value += 3;
    length = strcspn(value, ",");
    if (length == 0 || length >= size)
        return false;
    memcpy(name, value, length);
    name[length] = '\0';
    /* The schema has names like CN=Group-Policy-Container for groupPolicyContainer. */
    for (char *from = name, *to = name;; from++) {
        if (*from != '-' || strncasecmp(name, "ms", 2) == 0)
            *to++ = *from;
        if (*from == '\0')
            break;
    }
    return is_class(name);
}

/* Classes of Active Directory's schema, and a few of RFC 4519 and RFC 2307. Any other class may
 * have a private name. */
static const char *const classes[] = {
    "*",
    "top",
    "person",
    "organizationalPerson",
    "user",
    "inetOrgPerson",
    "contact",
    "computer",
    "group",
    "groupOfNames",
    "groupOfUniqueNames",
    "posixAccount",
    "posixGroup",
    "shadowAccount",
    "organization",
    "organizationalUnit",
    "container",
    "builtinDomain",
    "domain",
    "domainDNS",
    "domainPolicy",
    "dcObject",
    "account",
    "device",
    "locality",
    "country",
    "alias",
    "subschema",
    "classSchema",
    "attributeSchema",
    "dMD",
    "configuration",
    "crossRef",
    "crossRefContainer",
    "controlAccessRight",
    "displaySpecifier",
    "dnsNode",
    "dnsZone",
    "foreignSecurityPrincipal",
    "groupPolicyContainer",
    "infrastructureUpdate",
    "interSiteTransport",
    "leaf",
    "lostAndFound",
    "linkTrackVolumeTable",
    "mSMQConfiguration",
    "mSMQQueue",
    "nTDSConnection",
    "nTDSDSA",
    "nTDSDSARO",
    "nTDSService",
    "nTDSSiteSettings",
    "nTFRSMember",
    "nTFRSReplicaSet",
    "nTFRSSettings",
    "nTFRSSubscriber",
    "nTFRSSubscriptions",
    "rIDManager",
    "rIDSet",
    "rpcContainer",
    "samDomain",
    "samServer",
    "securityPrincipal",
    "server",
    "serversContainer",
    "serviceConnectionPoint",
    "servicePrincipalName",
    "site",
    "siteLink",
    "siteLinkBridge",
    "sitesContainer",
    "subnet",
    "subnetContainer",
    "trustedDomain",
    "volume",
    "printQueue",
    "pKICertificateTemplate",
    "pKIEnrollmentService",
    "certificationAuthority",
    "cRLDistributionPoint",
    "msPKI-Enterprise-Oid",
    "msDS-App-Configuration",
    "msDS-AuthNPolicy",
    "msDS-AuthNPolicySilo",
    "msDS-ClaimType",
    "msDS-GroupManagedServiceAccount",
    "msDS-ManagedServiceAccount",
    "msDS-DelegatedManagedServiceAccount",
    "msDS-PasswordSettings",
    "msDS-PasswordSettingsContainer",
    "msDS-QuotaContainer",
    "msDFS-Linkv2",
    "msDFS-Namespacev2",
    "msDFSR-GlobalSettings",
    "msDFSR-LocalSettings",
    "msDFSR-Member",
    "msDFSR-ReplicationGroup",
    "msDFSR-Subscriber",
    "msDFSR-Subscription",
    "msDFSR-Topology",
    "fTDfs",
    "dfsConfiguration",
    "msExchOrganizationContainer",
    "msExchExchangeServer",
    "ipsecPolicy",
    "ipsecFilter",
    "ipsecNFA",
    "ipsecISAKMPPolicy",
    "ipsecNegotiationPolicy",
    "msFVE-RecoveryInformation",
    "msTPM-InformationObject",
    "packageRegistration",
    "queryPolicy",
    "remoteStorageServicePoint",
    "rRASAdministrationConnectionPoint",
    "applicationSettings",
    "applicationSiteSettings",
    "classStore",
    "typeLibrary",
    "comConnectionPoint",
};

static bool is_class(const char *text)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (strcasecmp(text, classes[i]) == 0)
            return true;
    return false;
}

bool shape_is_attribute(const char *text)
{
    size_t length = strlen(text), name = strcspn(text, ";");
    if (length > ATTRIBUTE_MAX ||
        text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                          "0123456789-;.")])
        return false;
    if (isalpha((unsigned char)text[0]))
        return !memchr(text, '.', name);
    return is_oid(text, name);
}

/* Object identifiers begin with 0, 1 or 2 (X.660), and have more parts than an address. */
static bool is_oid(const char *text, size_t length)
{
    size_t dots = 0;
    for (size_t i = 1; i < length; i++) {
        if (text[i] == '.' ? text[i - 1] == '.' : !isdigit((unsigned char)text[i]))
            return false;
        dots += text[i] == '.';
    }
    bool known = strncmp(text, "2.5.4.", 6) == 0; /* X.520 */
    return length > 2 && text[0] >= '0' && text[0] <= '2' && text[1] == '.' &&
           text[length - 1] != '.' && (known || dots > 3);
}
