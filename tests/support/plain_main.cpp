#include "support/test_main.hpp"

int main(int argc, char** argv) { return rowlock::test::run_all_tests(argc, argv); }
