// libFuzzer itself is linked by -sanitize=fuzzer.
#include "CFuzzer.h"
