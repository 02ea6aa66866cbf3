/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: replies of a DNS server and of a NetBIOS name server. */
#include <stdint.h>

#include "protocols/names/dns.h"
#include "protocols/names/nbns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int rcode;
    (void)dns_reply_parse(data, size, "dc1.samdom.example.com", 1, &rcode);
    (void)nbns_reply_parse(data, size);
    return 0;
}
