import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir

required_conan_version = ">=2.0"


class RowlockConan(ConanFile):
    name = "rowlock"
    version = "0.1.0"
    description = "Named locks for C++20 programs whose only shared infrastructure is a database"
    license = "MIT"
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
        "with_postgresql": False,
        "with_mysql": False,
    }

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for file in ("CMakeLists.txt", "LICENSE", "*.md"):
            copy(self, file, root, self.export_sources_folder)
        for folder in ("cmake", "docs", "examples", "include", "packaging", "schema", "src"):
            copy(self, "*", os.path.join(root, folder), os.path.join(self.export_sources_folder, folder))

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        self.folders.root = os.path.join("..", "..")
        cmake_layout(self)

    def requirements(self):
        if self.options.with_sqlite:
            self.requires("sqlite3/[>=3.35 <4]")
        if self.options.with_postgresql:
            # Programs that lock in their own transactions use its headers, and must use the same version.
            self.requires("libpqxx/[>=7.7 <8]", transitive_headers=True, transitive_libs=True)
            self.requires("libpq/[>=14]")
        # with_mysql: the system's MySQL Connector/C++. Conan Center's recipe has no JDBC-style API, which rowlock uses.

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("rowlock runs on Linux")
        if not (self.options.with_sqlite or self.options.with_postgresql or self.options.with_mysql):
            raise ConanInvalidConfiguration("rowlock needs with_sqlite, with_postgresql or with_mysql")
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("sqlite", "postgresql", "mysql"):
            toolchain.cache_variables[f"ROWLOCK_WITH_{option.upper()}"] = bool(self.options.get_safe(f"with_{option}"))
        toolchain.cache_variables["ROWLOCK_INSTALL"] = True
        for part in ("COMMAND", "TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"ROWLOCK_BUILD_{part}"] = False
        toolchain.cache_variables["CMAKE_INSTALL_LIBDIR"] = "lib"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))

    def package_info(self):
        # CMake reads rowlock's own package configuration, which also makes the linker keep the backends.
        self.cpp_info.set_property("cmake_find_mode", "none")
        core = self.cpp_info.components["core"]
        core.libs = ["rowlock_core"]
        core.system_libs = ["pthread"]
        core.builddirs = [os.path.join("lib", "cmake", "rowlock")]
        core.resdirs = ["share"]
        core.set_property("pkg_config_name", "rowlock-core")
        needs = {"sqlite": ["sqlite3::sqlite3"], "postgresql": ["libpqxx::libpqxx", "libpq::libpq"], "mysql": []}
        for backend, packages in needs.items():
            if not self.options.get_safe(f"with_{backend}"):
                continue
            component = self.cpp_info.components[backend]
            component.libs = [f"rowlock_{backend}"]
            component.requires = ["core"] + packages
            if backend == "mysql":
                component.system_libs = ["mysqlcppconn"]
            # Nothing refers to a backend but a table of weak references.
            keep = "-Wl,--no-as-needed" if self.options.shared else f"-Wl,-u,rowlock_backend_{backend}"
            component.exelinkflags = [keep]
            component.sharedlinkflags = [keep]
            component.set_property("pkg_config_name", f"rowlock-{backend}")
