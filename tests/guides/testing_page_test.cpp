// The tests of docs/testing.md, included from there.

#include <gtest/gtest.h>

#include "docs_testing_gtest.inc"
