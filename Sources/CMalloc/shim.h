// mallopt(3), which the standard library's own module of glibc leaves out.
#pragma once

#include <malloc.h>
