#include "server/server_test.hpp"
#include "support/postgresql_database.hpp"

namespace rowlock::test {
namespace {

/// A database of its own, with another encoding than the server's.
class encoding : public only_on<postgresql_database>, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    db().execute("CREATE DATABASE " + db().name() + " ENCODING '" + GetParam() +
                 "' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
  }
  void TearDown() override { db().execute("DROP DATABASE " + db().name() + " WITH (FORCE)"); }
  std::string url() {
    auto out = db().administrator();
    out.database = db().name();
    return out.url();
  }
};

class encoding_that_is_not_utf8 : public encoding {};
INSTANTIATE_TEST_SUITE_P(a, encoding_that_is_not_utf8, testing::Values("EUC_JP", "KOI8R", "LATIN1"));
class encoding_that_keeps_bytes : public encoding {};
INSTANTIATE_TEST_SUITE_P(a, encoding_that_keeps_bytes, testing::Values("SQL_ASCII", "UTF8"));

TEST_P(encoding_that_is_not_utf8, is_refused) {
  const auto e = error_of([&] { connect_to(url()).close(); });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::unsupported);
  EXPECT_TRUE(mentions(e, GetParam()) && mentions(e, "'UTF8'")) << e->what();
}

TEST_P(encoding_that_keeps_bytes, has_every_name) {
  auto locks = connect_to(url());
  locks.migrate();
  for (const std::string name : {"Straße/é", "日本/語", "Ж/я"}) {
    auto held = locks.acquire(name);
    EXPECT_FALSE(locks.try_acquire(name).has_value());
    const auto found = locks.list(name.substr(0, name.find('/')));
    ASSERT_EQ(found.size(), 1U) << name;
    EXPECT_EQ(found[0].name.view(), name);
    held.release();
  }
}

}  // namespace
}  // namespace rowlock::test
