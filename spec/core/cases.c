#include "core_test.h"
void test_cases (void) {}
void test_errors (void) {}
