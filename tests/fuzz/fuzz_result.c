/* SPDX-License-Identifier: Apache-2.0 */
/* JSON results, and text reports, as traffic-summary reads them: whatever is taken must be sound.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "summary/reading.h"
#include "summary/result/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct reading reading = {0};
    reading_parse(&reading, (const char *)data, size, "dc1_r4_S5.txt", &error);
    reading_clear(&reading);

    struct result result;
    struct histogram total;
    result_init(&result);
    histogram_init(&total);
    if (result_parse(&result, (const char *)data, size, "x.json", &error) == 0) {
        if (result_check(&result, &error) < 0)
            abort();
        result_total(&result, RESULT_RESPONSE, &total);
        if (total.count && histogram_quantile(&total, 0.5) < 0)
            abort();
    }
    histogram_clear(&total);
    result_clear(&result);
    return 0;
}
