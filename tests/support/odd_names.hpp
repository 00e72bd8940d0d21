#pragma once

#include <string>
#include <vector>

namespace rowlock::test {

/// Each of them has confused one database or another. Any two are different, whatever a collation, SQL or the syntax of
/// an array would make of them.
inline std::vector<std::string> odd_names() {
  std::vector<std::string> out{std::string(254, 'x'), std::string(255, 'x'), std::string(254, 'x') + "y"};
  for (const char* const each :
       {"a",    "A",    "a ",   " a",   "a\t",     "a\n", " ",   "  ",    "0",  "00", "0x41", "1e1",  "10",
        "null", "NULL", "\x01", "\x7f", "o'brien", "?",   "?1",  ":name", "$1", "@p", "%s",   "100%", "a_b",
        "%",    "_",    "{}",   "{",    "}",       ",",   "a,b", "/*",    "--", "\"", "\\",   "\\'"})
    out.emplace_back(each);
  for (const char* const each :
       {"o''brien", "\"quoted\"", "`ticked`", "[bracketed]", "{a,b}", "a\"b", "\"\"", "back\\slash", "back\\\\slash",
        "E'\\x41'", "::text", "x'); DROP TABLE rowlock_lock; --", "'; DROP TABLE rowlock_lock; --", "' OR '1'='1"})
    out.emplace_back(each);
  for (const char* const each : {"caf\xc3\xa9",                       // e with acute as one code point
                                 "cafe\xcc\x81",                      // and as two
                                 "\xf0\x9f\x94\x92",                  // an emoji
                                 "\xf0\x9f\x94\x92\xef\xb8\x8f",      // with a variation selector
                                 "\xe2\x80\x8b",                      // zero width space
                                 "\xe2\x80\xae\x61",                  // right-to-left override and a
                                 "\xef\xbb\xbf\x61",                  // byte order mark and a
                                 "\xd0\xb0",                          // Cyrillic a
                                 "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",  // right to left
                                 "\xe6\x97\xa5\xe6\x9c\xac",          // two ideographs
                                 "\xc4\xb0",                          // capital I with dot
                                 "\xc4\xb1",                          // small i without dot
                                 "I",
                                 "i",
                                 "\xc5\xbf",  // long s, which some collations take for s
                                 "s",
                                 "\xc3\x9f",  // sharp s
                                 "ss",
                                 "SS",
                                 "\xf4\x8f\xbf\xbf",  // U+10FFFF
                                 "\xef\xbf\xbf"})
    out.emplace_back(each);
  return out;
}

}  // namespace rowlock::test
