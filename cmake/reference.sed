# What Doxygen is shown of headers and pages (Doxyfile.in).

# The version of the binary interface is no part of a name in a program.
s/^namespace rowlock::inline v1/namespace rowlock/

# Macros are for the library alone.
s/^#define ROWLOCK_.*//

# Specialisations of the standard's templates: nobody calls them by name.
/^template <>$/,/\};$/s/.*//

# What an example is compiled as is no language.
s/^```([a-z]+) .*$/```\1/

# Files that are no part of the reference keep their names, and lose their links.
s/\[([^]]*)\]\((\.\.\/)?(tests|testkit|schema|src|demo|examples|bench|cmake|include)\/[^)]*\)/\1/g
s/\[([^]]*)\]\(systemd\/[^)]*\)/\1/g

# It knows pages, but not their headings as they are linked to elsewhere.
s/(\]\([a-z/]*\.md)#[^)]*\)/\1)/g

# To Doxygen this would be the name of something global: a space of no width between the colons.
s/\)::bigint/):\xE2\x80\x8B:bigint/g
