"""Runs packaging/conan/conanfile.py with modules that have the names of Conan's and do what its documentation says of the few
things that the recipe uses. Conan itself is not here.

    conan_stand_in.py ROOT SCRATCH VERSION OPTION=True|False...

Exports the sources into SCRATCH/sources. Configures, and unless `build=False` is among the options also builds, installs into
SCRATCH/package, and builds and runs test_package with that. Prints nothing where all is well."""

import fnmatch
import importlib.util
import os
import shutil
import subprocess
import sys
import types

root, scratch, version, *given = sys.argv[1:]
given = dict(each.split("=") for each in given)
given = {name: value == "True" for name, value in given.items()}
builds = given.pop("build", True)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


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

    def rm_safe(self, name):
        self.__dict__.pop(name, None)

    def get_safe(self, name):
        return self.__dict__.get(name)


class Component(Strict):
    allowed = ("libs", "system_libs", "requires", "builddirs", "resdirs", "exelinkflags", "sharedlinkflags", "properties")

    def __init__(self):
        self.properties = {}
        self.libs, self.system_libs, self.requires, self.builddirs = [], [], [], []
        self.exelinkflags, self.sharedlinkflags = [], []

    def set_property(self, name, value):
        assert name in ("cmake_find_mode", "cmake_file_name", "cmake_target_name", "pkg_config_name"), name
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
        self.settings = types.SimpleNamespace(os="Linux", arch="x86_64", compiler="gcc", build_type="Release")
        self.options = Options(self.options, {**self.default_options, **given})
        self.folders = types.SimpleNamespace(root=None)
        self.cpp_info = CppInfo()
        self.required = []
        self.recipe_folder = os.path.join(root, "packaging", "conan")
        self.export_sources_folder = self.source_folder = os.path.join(scratch, "sources")
        self.build_folder = os.path.join(scratch, "build")
        self.package_folder = os.path.join(scratch, "package")

    def requires(self, reference, **traits):
        assert set(traits) <= {"headers", "libs", "transitive_headers", "transitive_libs"}, traits
        self.required.append(reference.split("/")[0])


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        # What a toolchain file of Conan says besides.
        shared = bool(self.recipe.options.shared)
        self.recipe.toolchain = {**self.cache_variables, "BUILD_SHARED_LIBS": shared, "CMAKE_BUILD_TYPE": "Release"}


class CMakeDeps:
    def __init__(self, recipe):
        pass

    def generate(self):
        pass  # the packages of this machine are found


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        variables = [f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}"
                     for name, value in self.recipe.toolchain.items()]
        said = run("cmake", "-S", self.recipe.source_folder, "-B", self.recipe.build_folder, "-G", "Ninja",
                   f"-DCMAKE_INSTALL_PREFIX={self.recipe.package_folder}",
                   # Fast to build: what matters is what is built.
                   "-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16",
                   *variables)
        assert "were not used" not in said, said

    def build(self):
        if builds:
            run("cmake", "--build", self.recipe.build_folder)

    def install(self):
        run("cmake", "--install", self.recipe.build_folder, "--prefix", self.recipe.package_folder)


def copy(recipe, pattern, src, dst):
    for folder, _, files in os.walk(src):
        for file in files:
            path = os.path.relpath(os.path.join(folder, file), src)
            # Conan's patterns match whole paths, so "*.md" would match in folders too.
            if fnmatch.fnmatch(path, pattern) and not path.startswith(("build", ".git")):
                os.makedirs(os.path.dirname(os.path.join(dst, path)), exist_ok=True)
                shutil.copy2(os.path.join(src, path), os.path.join(dst, path))


def module(name, **has):
    made = types.ModuleType(name)
    made.__dict__.update(has)
    sys.modules[name] = made


def check_min_cppstd(recipe, standard):
    assert int(standard) == 20


module("conan", ConanFile=ConanFile)
module("conan.errors", ConanInvalidConfiguration=ConanInvalidConfiguration)
module("conan.tools")
module("conan.tools.build", check_min_cppstd=check_min_cppstd, can_run=lambda recipe: True)
module("conan.tools.cmake", CMake=CMake, CMakeDeps=CMakeDeps, CMakeToolchain=CMakeToolchain, cmake_layout=lambda recipe: None)
module("conan.tools.files", copy=copy, rmdir=lambda recipe, path: shutil.rmtree(path, ignore_errors=True))


def load(path):
    spec = importlib.util.spec_from_file_location("recipe", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


sys.dont_write_bytecode = True
load(os.path.join(root, "packaging/conan/test_package/conanfile.py"))
recipe = load(os.path.join(root, "packaging/conan/conanfile.py")).RowlockConan()
assert recipe.version == version, f"the recipe is of {recipe.version}"
backends = [name for name in ("sqlite", "postgresql", "mysql") if given.get(f"with_{name}", recipe.default_options[f"with_{name}"])]

recipe.configure()
assert hasattr(recipe.options, "fPIC") != bool(recipe.options.shared)
recipe.layout()
assert os.path.samefile(os.path.join(recipe.recipe_folder, recipe.folders.root), root)
if not backends:
    try:
        recipe.validate()
    except ConanInvalidConfiguration:
        sys.exit()
    sys.exit("a package without a backend was allowed")
recipe.validate()
recipe.requirements()
wanted = [{"sqlite": ["sqlite3"], "postgresql": ["libpqxx", "libpq"], "mysql": []}[name] for name in backends]
assert recipe.required == sum(wanted, []), recipe.required
recipe.export_sources()
recipe.generate()
recipe.build()
recipe.package_info()
assert sorted(recipe.cpp_info.components) == sorted(["core"] + backends), recipe.cpp_info.components
for component in recipe.cpp_info.components.values():
    for need in component.requires:
        assert need == "core" or need.split("::")[0] in recipe.required, need
if builds:
    recipe.package()
    inside = lambda *path: os.path.join(recipe.package_folder, *path)
    for wanted in ("licenses/LICENSE", "include/rowlock/rowlock.hpp", "share/rowlock/schema/sqlite/0001_lock.sql"):
        assert os.path.isfile(inside(wanted)), wanted
    assert not os.path.exists(inside("share/doc"))
    for name, component in recipe.cpp_info.components.items():
        ending = "so" if recipe.options.shared else "a"
        for library in component.libs:
            assert os.path.exists(inside("lib", f"lib{library}.{ending}")), library
        assert os.path.isfile(inside("lib/pkgconfig", component.properties["pkg_config_name"] + ".pc"))
    # CMakeToolchain has these folders in CMAKE_PREFIX_PATH.
    config = inside(*recipe.cpp_info.components["core"].builddirs)
    test = os.path.join(scratch, "test_package")
    run("cmake", "-S", os.path.join(root, "packaging/conan/test_package"), "-B", test, "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={config}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
    run("cmake", "--build", test)
    said = run(os.path.join(test, "test_package"))
    assert ("fencing token" in said) == ("sqlite" in backends), said
    # Others than CMake link by what package_info says.
    flags = [flag for name in backends for flag in recipe.cpp_info.components[name].exelinkflags]
    libraries = [f"-l{each}" for name in backends + ["core"] for each in recipe.cpp_info.components[name].libs]
    program = os.path.join(scratch, "by_flags")
    run(os.environ.get("CXX", "c++"), "-std=c++20", os.path.join(root, "packaging/conan/test_package/test_package.cpp"),
        f"-I{inside('include')}", *flags, f"-L{inside('lib')}", f"-Wl,-rpath,{inside('lib')}", *libraries,
        *(["-lsqlite3"] if "sqlite" in backends else []), "-lpthread", "-o", program)
    assert ("fencing token" in run(program)) == ("sqlite" in backends)
