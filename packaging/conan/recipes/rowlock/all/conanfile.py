import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir
from conan.tools.scm import Version

required_conan_version = ">=2.1"


class RowlockConan(ConanFile):
    name = "rowlock"
    description = "Named locks for C++20 programs whose only shared infrastructure is a database"
    license = "MIT"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "@HOMEPAGE@"
    topics = ("lock", "distributed-lock", "lease", "postgresql", "mysql", "sqlite")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "with_sqlite": [True, False],
        "with_postgresql": [True, False],
        "with_mysql": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "with_sqlite": True,
        # Off, since each brings libraries that a program on another database does not need. MySQL's is under the LGPL.
        "with_postgresql": False,
        "with_mysql": False,
    }
    implements = ["auto_shared_fpic"]

    def layout(self):
        cmake_layout(self, src_folder="src")

    def requirements(self):
        # A program that locks in its own transactions includes the driver's headers, through rowlock/interop.
        if self.options.with_sqlite:
            self.requires("sqlite3/3.53.4")
        if self.options.with_postgresql:
            self.requires("libpqxx/8.0.2", transitive_headers=True, transitive_libs=True)
            self.requires("libpq/17.7")
        if self.options.with_mysql:
            # MySQL Connector/C++, which rowlock can use as well, is in the index without its JDBC-style API.
            self.requires("mariadb-connector-c/3.4.8", transitive_headers=True, transitive_libs=True)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("rowlock runs on Linux only")
        if not (self.options.with_sqlite or self.options.with_postgresql or self.options.with_mysql):
            raise ConanInvalidConfiguration("rowlock needs with_sqlite, with_postgresql or with_mysql")
        check_min_cppstd(self, 20)
        # libpqxx 8 does not compile with gcc 12.
        oldest = {"gcc": "13" if self.options.with_postgresql else "12", "clang": "14"}.get(str(self.settings.compiler))
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"rowlock with these options needs {self.settings.compiler} {oldest} or later")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for backend in ("sqlite", "postgresql", "mysql"):
            toolchain.cache_variables[f"ROWLOCK_WITH_{backend.upper()}"] = bool(self.options.get_safe(f"with_{backend}"))
        toolchain.cache_variables["ROWLOCK_MYSQL_DRIVER"] = "mariadb-c"
        toolchain.cache_variables["ROWLOCK_INSTALL"] = True
        toolchain.cache_variables["ROWLOCK_UNITY"] = True
        for part in ("COMMAND", "TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"ROWLOCK_BUILD_{part}"] = False
        toolchain.cache_variables["CMAKE_INSTALL_DATADIR"] = "res"
        toolchain.cache_variables["CMAKE_INSTALL_RPATH"] = ""
        toolchain.generate()
        deps = CMakeDeps(self)
        deps.set_property("mariadb-connector-c", "cmake_file_name", "MariaDBConnectorC")
        deps.set_property("mariadb-connector-c", "cmake_target_name", "MariaDBConnectorC::mariadb")
        deps.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        cmake = CMake(self)
        cmake.install()
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "rowlock")
        self.cpp_info.set_property("cmake_target_name", "rowlock::rowlock")
        self.cpp_info.set_property("pkg_config_name", "rowlock")
        needs = {
            "core": [],
            "sqlite": ["core", "sqlite3::sqlite3"],
            "postgresql": ["core", "libpqxx::libpqxx", "libpq::libpq"],
            "mysql": ["core", "mariadb-connector-c::mariadb-connector-c"],
        }
        for name, requires in needs.items():
            if name != "core" and not self.options.get_safe(f"with_{name}"):
                continue
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", f"rowlock::{name}")
            component.set_property("pkg_config_name", f"rowlock-{name}")
            component.libs = [f"rowlock_{name}"]
            component.requires = requires
            component.system_libs = ["pthread"]
            if name == "core":
                component.resdirs = ["res"]
            else:
                # The core has a table of weak references to the backends, and nothing else refers to them.
                keep = "-Wl,--no-as-needed" if self.options.shared else f"-Wl,-u,rowlock_backend_{name}"
                component.exelinkflags = [keep]
                component.sharedlinkflags = [keep]
