"""Runs the recipe for Conan with modules that have the names of Conan's and do what its documentation says of the few things
that the recipe uses. Conan itself is not here.

    conan_stand_in.py RECIPE SCRATCH VERSION OPTION=True|False...

Takes the archive that conandata.yml names. Configures, and unless `build=False` is among the options also builds, installs
into SCRATCH/package, and builds and runs test_package with that. Prints nothing where all is well."""

import ast
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import types

folder, scratch, version, *given = sys.argv[1:]
folder = os.path.join(folder, "all")
given = dict(each.split("=") for each in given)
given = {name: value == "True" for name, value in given.items()}
builds = given.pop("build", True)
generators = os.path.join(scratch, "generators")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def read_yaml(path):
    """As much of YAML as the files of a recipe need: mappings by indentation, of text."""
    made = {}
    levels = [(-1, made)]
    with open(path) as file:
        for line in filter(str.strip, file):
            key, value = re.fullmatch(r'\s*("[^"]+"|\w+):(?:\s+(\S.*))?', line.rstrip()).groups()
            indentation = len(line) - len(line.lstrip())
            while levels[-1][0] >= indentation:
                levels.pop()
            inside = value.strip('"') if value else {}
            levels[-1][1][key.strip('"')] = inside
            levels.append((indentation, inside))
    return made


class ConanInvalidConfiguration(Exception):
    pass


class Strict:
    """Takes no attribute that Conan's class does not have."""

    allowed = ()

    def __setattr__(self, name, value):
        if name not in self.allowed:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        object.__setattr__(self, name, value)


class Options:
    def __init__(self, known, values):
        unknown = set(values) - set(known)
        assert not unknown, f"no options {unknown}"
        self.__dict__.update(values)

    def get_safe(self, name):
        return self.__dict__.get(name)


class Version:
    def __init__(self, text):
        self.parts = [int(part) for part in str(text).split(".")]

    def __lt__(self, other):
        return self.parts < Version(other).parts


class Component(Strict):
    allowed = ("libs", "system_libs", "requires", "resdirs", "exelinkflags", "sharedlinkflags", "properties")

    def __init__(self):
        self.properties = {}
        self.libs, self.system_libs, self.requires = [], [], []
        self.exelinkflags, self.sharedlinkflags = [], []

    def set_property(self, name, value):
        assert name in ("cmake_file_name", "cmake_target_name", "pkg_config_name"), name
        self.properties[name] = value


class CppInfo(Component):
    allowed = Component.allowed + ("components",)

    def __init__(self):
        super().__init__()
        self.components = Components()


class Components(dict):
    def __missing__(self, name):
        self[name] = Component()
        return self[name]


class ConanFile:
    def __init__(self):
        self.version = version
        self.conan_data = read_yaml(os.path.join(folder, "conandata.yml"))
        self.settings = types.SimpleNamespace(
            os="Linux", arch="x86_64", compiler=Compiler("gcc", "13"), build_type="Release")
        self.options = Options(self.options, {**self.default_options, **given})
        self.cpp_info = CppInfo()
        self.required, self.found = {}, []
        self.source_folder = os.path.join(scratch, "sources")
        self.build_folder = os.path.join(scratch, "build")
        self.package_folder = os.path.join(scratch, "package")

    def requires(self, reference, **traits):
        assert set(traits) <= {"transitive_headers", "transitive_libs"}, traits
        name, required = reference.split("/")
        assert re.fullmatch(r"[0-9.]+", required), f"no exact version: {reference}"
        self.required[name] = required

    def tool_requires(self, reference):
        assert reference.startswith("cmake/[>="), reference


class Compiler(str):
    def __new__(cls, name, version):
        made = str.__new__(cls, name)
        made.version = version
        return made


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        # What a toolchain file of Conan says besides.
        self.recipe.toolchain = {
            **self.cache_variables,
            "BUILD_SHARED_LIBS": bool(self.recipe.options.shared),
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_INSTALL_BINDIR": "bin",
            "CMAKE_INSTALL_LIBDIR": "lib",
            "CMAKE_INSTALL_INCLUDEDIR": "include",
            "CMAKE_FIND_PACKAGE_PREFER_CONFIG": True,
            "CMAKE_PREFIX_PATH": generators,
        }


# What the recipes of the index say of their packages, and the library of this machine that stands for each.
index = {
    "sqlite3": ("SQLite3", "SQLite::SQLite3", "sqlite3"),
    "libpqxx": ("libpqxx", "libpqxx::pqxx", "libpqxx"),
    "libpq": ("PostgreSQL", "PostgreSQL::PostgreSQL", "libpq"),
    "mariadb-connector-c": ("mariadb-connector-c", "mariadb-connector-c::mariadb-connector-c", "libmariadb"),
}


def pkg_config(*arguments):
    return run("pkg-config", *arguments).split()


def write_package(name, found_version, body):
    """A package configuration as CMakeDeps writes it: it allows what has the same major version."""
    os.makedirs(generators, exist_ok=True)
    kind, kind_of_version = ("-config", "-config-version") if name == name.lower() else ("Config", "ConfigVersion")
    with open(os.path.join(generators, f"{name}{kind}.cmake"), "w") as file:
        file.write(body)
    with open(os.path.join(generators, f"{name}{kind_of_version}.cmake"), "w") as file:
        file.write(f'set(PACKAGE_VERSION "{found_version}")\n'
                   f'if("${{PACKAGE_FIND_VERSION_MAJOR}}" STREQUAL "{found_version.split(".")[0]}" AND '
                   f'PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION OR NOT PACKAGE_FIND_VERSION)\n'
                   f'set(PACKAGE_VERSION_COMPATIBLE TRUE)\nendif()\n')


def target(name, **properties):
    said = "".join(f'set_property(TARGET {name} PROPERTY INTERFACE_{key} "{";".join(values)}")\n'
                   for key, values in properties.items())
    return f"if(NOT TARGET {name})\nadd_library({name} INTERFACE IMPORTED)\nendif()\n{said}"


class CMakeDeps:
    def __init__(self, recipe):
        self.recipe, self.properties = recipe, {}

    def set_property(self, package, name, value):
        assert package in index and name in ("cmake_file_name", "cmake_target_name"), (package, name)
        self.properties[package, name] = value

    def generate(self):
        for package in self.recipe.required:
            name, target_name, here = index[package]
            name = self.properties.get((package, "cmake_file_name"), name)
            target_name = self.properties.get((package, "cmake_target_name"), target_name)
            self.recipe.found.append(name)
            folders = [flag[2:] for flag in pkg_config("--cflags-only-I", here)] or ["/usr/include"]
            write_package(name, pkg_config("--modversion", here)[0],
                          f'set({name}_INCLUDE_DIRS "{";".join(folders)}")\n'
                          + target(target_name, INCLUDE_DIRECTORIES=folders, LINK_LIBRARIES=pkg_config("--libs", here)))


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        variables = [f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}"
                     for name, value in self.recipe.toolchain.items()]
        said = run("cmake", "-S", self.recipe.source_folder, "-B", self.recipe.build_folder, "-G", "Ninja",
                   f"-DCMAKE_INSTALL_PREFIX={self.recipe.package_folder}",
                   "-DCMAKE_CXX_FLAGS_RELEASE=-O0",  # fast to build: what matters is what is built
                   *variables)
        assert "were not used" not in said, said
        with open(os.path.join(self.recipe.build_folder, "CMakeCache.txt")) as file:
            cache = file.read()
        for name in self.recipe.found:
            assert f"\n{name}_DIR:PATH={generators}\n" in cache, f"another {name} was found"

    def build(self):
        if builds:
            run("cmake", "--build", self.recipe.build_folder)

    def install(self):
        run("cmake", "--install", self.recipe.build_folder, "--prefix", self.recipe.package_folder)


def get(recipe, url, sha256, strip_root):
    assert strip_root and url.startswith("file://"), url
    with open(url[len("file://"):], "rb") as file:
        assert hashlib.sha256(file.read()).hexdigest() == sha256
    with tarfile.open(url[len("file://"):]) as archive:
        archive.extractall(scratch)
    os.rename(os.path.join(scratch, f"rowlock-{version}"), recipe.source_folder)


def copy(recipe, pattern, src, dst):
    os.makedirs(dst, exist_ok=True)
    shutil.copy2(os.path.join(src, pattern), os.path.join(dst, pattern))


def module(name, **has):
    made = types.ModuleType(name)
    made.__dict__.update(has)
    sys.modules[name] = made


def check_min_cppstd(recipe, standard):
    assert int(standard) == 20


def cmake_layout(recipe, src_folder=None):
    pass


module("conan", ConanFile=ConanFile)
module("conan.errors", ConanInvalidConfiguration=ConanInvalidConfiguration)
module("conan.tools")
module("conan.tools.build", check_min_cppstd=check_min_cppstd, can_run=lambda recipe: True)
module("conan.tools.cmake", CMake=CMake, CMakeDeps=CMakeDeps, CMakeToolchain=CMakeToolchain, cmake_layout=cmake_layout)
module("conan.tools.files", copy=copy, get=get, rmdir=lambda recipe, path: shutil.rmtree(path))
module("conan.tools.scm", Version=Version)


def load(path):
    spec = importlib.util.spec_from_file_location("recipe", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def refuses(recipe, change):
    change(recipe)
    try:
        recipe.validate()
    except ConanInvalidConfiguration:
        return True
    return False


def set_compiler(name, number):
    return lambda recipe: setattr(recipe.settings, "compiler", Compiler(name, number))


sys.dont_write_bytecode = True
os.makedirs(scratch)
test_class = load(os.path.join(folder, "test_package", "conanfile.py")).TestPackageConan
assert not hasattr(test_class, "name") and not hasattr(test_class, "version")
RowlockConan = load(os.path.join(folder, "conanfile.py")).RowlockConan
assert not hasattr(RowlockConan, "version"), "the index gives the version"
assert RowlockConan.url == "https://github.com/conan-io/conan-center-index" and RowlockConan.homepage != RowlockConan.url
assert read_yaml(os.path.join(folder, "..", "config.yml")) == {"versions": {version: {"folder": "all"}}}
recipe = RowlockConan()
assert list(recipe.conan_data) == ["sources"] and list(recipe.conan_data["sources"]) == [version]
assert recipe.default_options["shared"] is False and recipe.default_options["fPIC"] is True
assert recipe.default_options["with_mysql"] is False
with open(os.path.join(folder, "conanfile.py")) as file:
    imports = [node for node in ast.walk(ast.parse(file.read())) if isinstance(node, (ast.Import, ast.ImportFrom))]
assert {getattr(node, "module", None) or node.names[0].name for node in imports} <= set(sys.modules)

backends = [name for name in ("sqlite", "postgresql", "mysql") if recipe.options.get_safe(f"with_{name}")]
if not backends:
    sys.exit(None if refuses(recipe, lambda recipe: None) else "a package without a backend was allowed")
recipe.layout()
recipe.validate()
assert refuses(RowlockConan(), lambda recipe: setattr(recipe.settings, "os", "Windows"))
assert refuses(RowlockConan(), set_compiler("gcc", "11")) and refuses(RowlockConan(), set_compiler("clang", "13.0"))
assert refuses(RowlockConan(), set_compiler("gcc", "12.3")) == ("postgresql" in backends)
recipe.requirements()
recipe.build_requirements()
wanted = {"sqlite": ["sqlite3"], "postgresql": ["libpqxx", "libpq"], "mysql": ["mariadb-connector-c"]}
assert list(recipe.required) == sum([wanted[name] for name in backends], []), recipe.required
recipe.source()
recipe.generate()
recipe.build()
recipe.package_info()
components = recipe.cpp_info.components
assert sorted(components) == sorted(["core"] + backends), components
used = {need.split("::")[0] for component in components.values() for need in component.requires}
assert used - {"core"} == set(recipe.required), used
if builds:
    recipe.package()
    inside = lambda *path: os.path.join(recipe.package_folder, *path)
    for wanted in ("licenses/LICENSE", "include/rowlock/rowlock.hpp", "res/rowlock/schema/sqlite/0001_rowlock.sql"):
        assert os.path.isfile(inside(wanted)), wanted
    assert set(os.listdir(recipe.package_folder)) == {"include", "lib", "licenses", "res"}, os.listdir(recipe.package_folder)
    assert all(name.startswith("librowlock_") for name in os.listdir(inside("lib"))), os.listdir(inside("lib"))
    shutil.rmtree(generators)
    here = []
    for name, component in components.items():
        for library in component.libs:
            file = inside("lib", f"lib{library}.{'so' if recipe.options.shared else 'a'}")
            assert os.path.exists(file), file
            assert not recipe.options.shared or "PATH" not in run("objdump", "-p", file), "it has a run path"
        # As CMakeDeps writes it.
        needed = [components[need].properties["cmake_target_name"] for need in component.requires if need in components]
        system = [f"-l{library}" for need in component.requires if "::" in need
                  for library in [index[need.split("::")[0]][2].removeprefix("lib")]]
        here.append(target(component.properties["cmake_target_name"],
                           INCLUDE_DIRECTORIES=[inside("include")], LINK_DIRECTORIES=[inside("lib")],
                           LINK_OPTIONS=component.exelinkflags,
                           LINK_LIBRARIES=component.libs + needed + system + component.system_libs))
    info = recipe.cpp_info.properties
    write_package(info["cmake_file_name"], version, "".join(here) + target(
        info["cmake_target_name"], LINK_LIBRARIES=[each.properties["cmake_target_name"] for each in components.values()]))
    test = os.path.join(scratch, "test_package")
    run("cmake", "-S", os.path.join(folder, "test_package"), "-B", test, "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={generators}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF", "-DCMAKE_CXX_STANDARD=20")
    run("cmake", "--build", test)
    os.environ["LD_LIBRARY_PATH"] = inside("lib")  # as conanrun does
    said = run(os.path.join(test, "test_package"))
    assert ("fencing token" in said) == ("sqlite" in backends), said
