#define ASIO_SUITE asio_call
#include "unit/asio_tests.hpp"
