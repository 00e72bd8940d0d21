#define ROWLOCK_ASIO_BOOST
#define ASIO_SUITE boost_asio_call
#include "unit/asio_tests.hpp"
