# What Doxygen is shown of the headers (Doxyfile.in).

# The version of the binary interface is no part of a name in a program.
s/^namespace rowlock::inline v1/namespace rowlock/

# Macros are for the library alone.
s/^#define ROWLOCK_.*//

# Specialisations of the standard's templates: nobody calls them by name.
/^template <>$/,/\};$/s/.*//
