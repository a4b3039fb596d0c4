#!/bin/sh
# check_install.sh [BUILD]: installs what BUILD (default: build) holds, moves it elsewhere, and uses it from there as
# somebody would who has never seen the sources: symbols and versions, headers, manual pages, completions, the viewer's
# page, pkg-config, CMake, the projects of examples/projects, the Python package, and the runtime built by a C compiler
# alone or beside somebody's own sources. It needs g++, pkg-config, SDL2, OpenGL and xvfb (./bough setup install).
set -eu
cd "$(dirname -- "$0")/.."
root=$PWD
build=${1:-build}
work=$(mktemp -d)
server=
clean() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || :
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

fail() {
    echo "check_install: $*" >&2
    exit 1
}
# quiet COMMAND...: its output is shown only when it fails.
quiet() {
    "$@" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        fail "this failed: $*"
    }
}
same() {
    [ "$2" = "$3" ] || fail "$1: \"$2\", but \"$3\" is wanted"
}

# ---- install, and move ----

cmake -DBOUGH_INSTALL=ON "$build" >/dev/null
targets="bough bough_rt_shared bough_full_shared manual"
python=OFF
if cmake --build "$build" --target help | grep bough_python_package >/dev/null; then
    python=ON
    targets="$targets bough_python_package"
fi
# shellcheck disable=SC2086
quiet cmake --build "$build" --target $targets
quiet cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/moved"
prefix=$work/moved
libraries=$(dirname "$(find "$prefix" -name libbough.so)")
PKG_CONFIG_PATH=$libraries/pkgconfig
PATH=$prefix/bin:$PATH
export PKG_CONFIG_PATH PATH
if grep -rlF "$work/first" "$prefix" >"$work/log"; then
    cat "$work/log" >&2
    fail "these files know where they were installed first"
fi

# ---- versions, symbols ----

check_versions() {
    version=$(sed -n 's/^#define BOUGH_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/bough/base.h | paste -sd.)
    same "bough --version" "$(bough --version)" "bough $version"
    for name in bough bough_rt; do
        same "pkg-config --modversion $name" "$(pkg-config --modversion $name)" "$version"
        [ -f "$libraries/lib$name.so.$version" ] || fail "there is no lib$name.so.$version"
        soname=$(objdump -p "$libraries/lib$name.so" | awk '$1 == "SONAME" { print $2 }')
        same "soname" "$soname" "lib$name.so.$(sed -n 's/^set(BOUGH_SOVERSION \(.*\))$/\1/p' cmake/install.cmake)"
    done
    same "debian/changelog" "$(sed -n '1s/^bough (\([^-]*\)-.*/\1/p' debian/changelog)" "$version"
}

check_symbols() {
    for name in bough bough_rt; do
        nm -D --defined-only "$libraries/lib$name.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' >"$work/symbols"
        ! grep -v '^bough_' "$work/symbols" || fail "lib$name.so shows more than bough_..()"
    done
    # libbough.so is all of it: every function that a public header declares.
    cat "$prefix"/include/bough/*.h | sed -n 's/^BOUGH_API [^(]*[ *]\(bough_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$work/declared"
    nm -D --defined-only "$libraries/libbough.so" | awk '{ print $3 }' | sort -u >"$work/symbols"
    ! comm -23 "$work/declared" "$work/symbols" | grep . || fail "libbough.so lacks these functions of its headers"
    echo "libbough.so shows $(wc -l <"$work/symbols") functions, all of them bough_..(), $(wc -l <"$work/declared") found in headers"
}

check_headers() {
    for header in "$prefix"/include/bough/*.h; do
        printf '#include <bough/%s>\n' "$(basename "$header")" >"$work/header.c"
        quiet cc -std=c17 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$prefix/include" "$work/header.c"
        quiet c++ -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$prefix/include" -x c++ "$work/header.c"
    done
}

# ---- manual pages, completions ----

check_manual() {
    tools/check_manual.sh "$prefix/bin/bough" "$prefix/share"
}

# ---- a page of its own ----

# Where the engine for browsers was built, it is installed, and one sentence tells what is missing where it was not.
check_export() {
    scene=$work/scene.json
    cp "$prefix/share/bough/examples/beam/scene.json" "$scene"
    if [ -f build/wasm/page.wasm ] && [ -d viewer/node_modules/three ]; then
        quiet bough export "$scene" --html "$work/beam.html"
        [ "$(wc -c <"$work/beam.html")" -gt 1000000 ] || fail "bough export writes a page that cannot be whole"
    else
        echo "skipped: build/wasm/page.wasm is not there"
    fi
    ! bough export "$scene" --html "$work/none.html" --program "$work/none.wasm" 2>"$work/told" || fail "bough export needs no engine"
    grep -q 'the engine for browsers was not built' "$work/told" || fail "bough export does not tell that there is no engine"
}

# ---- the viewer's page ----

# Every file that the page asks for, beginning with index.html, comes from the server of the installed program.
check_viewer() {
    [ -d viewer/node_modules/three ] || { echo "skipped: viewer/node_modules is not there"; return 0; }
    (cd "$work" && exec bough view "$prefix/share/bough/examples/beam/scene.json" --no-browser --json >"$work/address") &
    server=$!
    tries=0
    until [ -s "$work/address" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || fail "bough view does not start"
        sleep 0.1
    done
    url=$(sed -n 's/.*"url": "\([^"]*\)".*/\1/p' "$work/address")
    base=${url%/*}
    mkdir -p "$work/served"
    quiet curl -sSf -o "$work/served/index.html" "$url"
    sed -n 's/.*\(src\|href\)="\([^"]*\)".*/\2/p' "$work/served/index.html" >"$work/wanted"
    : >"$work/seen"
    while [ -s "$work/wanted" ]; do
        file=$(head -n 1 "$work/wanted")
        sed -i 1d "$work/wanted"
        ! grep -qxF "$file" "$work/seen" || continue
        echo "$file" >>"$work/seen"
        curl -sSf -o "$work/served/file" "$base/$file" || fail "the viewer lacks $file"
        case $file in
        *.js)
            # shellcheck disable=SC2016
            grep -oE "(from|import) *[\"']\.[^\"']*[\"']" "$work/served/file" | sed "s/.*[\"']\(\..*\)[\"']/\1/" | while IFS= read -r name; do
                realpath -ms --relative-to=/ "/$(dirname "$file")/$name"
            done >>"$work/wanted" || :
            ;;
        esac
    done
    kill "$server"
    wait "$server" || :
    server=
    grep -q three.core.js "$work/seen" || fail "the page was not followed as far as three.core.js"
    echo "the page asks for $(wc -l <"$work/seen") files and finds them"
}

# ---- projects ----

check_projects() {
    cp -r "$prefix/share/bough/examples/." "$work"
    quiet make -C "$work/projects/pkg-config"
    "$work/projects/pkg-config/chime" 440 | tee "$work/log"
    # Euler and Bernoulli: f = 3.5608 sqrt(E / (12 rho)) h / L^2, a little more than what a thick bar has.
    awk '{ for (i = 1; i < NF; i++) { if ($(i + 1) == "mm" && $(i + 2) == "long") L = $i / 1000; if ($(i + 1) == "Hz") f = $i } }
         END { thin = 3.5608 * sqrt(200e9 / 12 / 7850) * 0.008 / L / L
               exit !(f > 439 && f < 441 && f / thin > 0.99 && f / thin < 1.001) }' "$work/log" || fail "the bar is out of tune"

    quiet cmake -S "$work/projects/cmake" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS=-Werror
    quiet cmake --build "$work/cmake"
    "$work/cmake/pack" "$work/y-tree/scene.json" "$work/y.pack" 2>/dev/null
    "$work/cmake/sway" "$work/y.pack" | tee "$work/sway.txt"

    # The libraries linked into the program, by both ways; and the components that are not there are named.
    sed 's/COMPONENTS rt full/COMPONENTS rt_static full_static/; s/bough::rt/bough::rt_static/; s/bough::full/bough::full_static/' \
        "$work/projects/cmake/CMakeLists.txt" >"$work/projects/CMakeLists.txt"
    mv "$work/projects/CMakeLists.txt" "$work/projects/cmake/CMakeLists.txt"
    quiet cmake -S "$work/projects/cmake" -B "$work/static" -DCMAKE_PREFIX_PATH="$prefix"
    quiet cmake --build "$work/static"
    ! ldd "$work/static/sway" "$work/static/pack" | grep libbough || fail "the static libraries are not static"
    "$work/static/sway" "$work/y.pack" >"$work/log"
    # shellcheck disable=SC2046
    quiet cc -std=c17 -O2 -static "$work/embed.c" $(pkg-config --static --cflags --libs bough_rt) -o "$work/embed"
    quiet "$work/embed" "$work/y.pack"
}

check_sdl() {
    bough example oak --leaves 200 -o "$work/oak" >/dev/null
    bough pack "$work/oak/scene.json" -o "$work/oak.pack" >/dev/null 2>&1
    quiet make -C "$work/projects/sdl-oak" CFLAGS='-O2 -Werror'
    xvfb-run -a -s '-screen 0 1280x1024x24' "$work/projects/sdl-oak/oak" "$work/oak.pack" --frames 20 --save "$work/oak.ppm"
    # Pixels in which green or brown prevails, away from the lower half where the ground is.
    tail -c +16 "$work/oak.ppm" | head -c $((960 * 340 * 3)) | od -An -v -tu1 -w3 |
        awk '{ if ($2 > $3 + 25) leaf++; else if ($1 > $3 + 25) bark++ }
             END { print "the oak covers " 100 * (leaf + bark) / NR " % of the upper half of the picture"
                   exit !(leaf > 0.03 * NR && leaf + bark < 0.6 * NR && bark > 300) }' ||
        fail "the picture of the oak is empty"
}

# ---- the Python package ----

# It finds the library and the program beside it; a tree is cooked and stepped, and the viewer answers.
check_python() {
    [ $python = ON ] || { echo "skipped: the Python package was not built; ./bough setup python"; return 0; }
    packages=$(dirname "$(find "$prefix" -path '*/bough/__init__.py')")/..
    interpreter=$(sed -n 's/^BOUGH_PYTHON_EXECUTABLE:FILEPATH=//p' "$build/CMakeCache.txt")
    (cd "$work" && PYTHONPATH=$packages PYTHONDONTWRITEBYTECODE=1 "$interpreter" - "$prefix" "$version") <<'END' || fail "import bough does not work"
import os, sys, urllib.request
import bough
prefix, version = map(os.path.realpath, sys.argv[1:])
assert os.path.realpath(bough.__file__).startswith(prefix) and bough.__version__ == os.path.basename(version), bough.__file__
with open("/proc/self/maps") as maps:
    loaded = {line.split()[-1] for line in maps if "libbough" in line}
assert loaded and all(os.path.realpath(name).startswith(prefix) for name in loaded), loaded
run = bough.Scene(prefix + "/share/bough/examples/y-tree/scene.json").run()
run.step(10)
assert bough.view_program() == prefix + "/bin/bough", bough.view_program()
if os.path.isdir(prefix + "/share/bough/viewer/node_modules"):
    with bough.view(run, browser=False) as viewer:
        assert b"<html" in urllib.request.urlopen(viewer.url).read()
print("import bough:", run)
END
    (cd "$work" && PYTHONPATH=$packages PYTHONDONTWRITEBYTECODE=1 "$interpreter" "$prefix/share/bough/examples/python/flower.py" &&
        [ -s flower.png ]) || fail "the flower was not drawn"
}

# ---- beside somebody's own sources ----

# A project in C++ with Bough as a folder of it, by both ways. It gets the library, and nothing of Bough is installed with it.
# Bough is built by clang, where it is there, since all before was built by gcc.
check_subproject() {
    compiler=$(command -v clang || command -v cc)
    mkdir -p "$work/host"
    cp "$work/projects/cmake/sway.cpp" "$work/projects/cmake/owned.hpp" "$work/host"
    cat >"$work/host/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(host LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
if(FETCH)
  include(FetchContent)
  FetchContent_Declare(bough SOURCE_DIR $root)
  FetchContent_MakeAvailable(bough)
else()
  add_subdirectory($root bough)
endif()
add_executable(sway sway.cpp)
target_link_libraries(sway PRIVATE bough::rt)
install(TARGETS sway)
END
    quiet cmake -S "$work/host" -B "$work/host-build" -DCMAKE_BUILD_TYPE=Release -DBOUGH_RUNTIME_ONLY=ON -DCMAKE_C_COMPILER="$compiler"
    quiet cmake --build "$work/host-build" --parallel "$(nproc)"
    "$work/host-build/sway" "$work/y.pack" | cmp - "$work/sway.txt" || fail "a subproject gives other figures"
    quiet cmake --install "$work/host-build" --prefix "$work/hosted"
    same "what a project with Bough as a folder installs" "$(cd "$work/hosted" && find . -type f)" ./bin/sway
    # With FetchContent and all of Bough a project is configured, too; Python and the build type are not Bough's concern.
    quiet cmake -S "$work/host" -B "$work/host-full" -DFETCH=ON
    grep -q '^BOUGH_PYTHON:STRING=OFF' "$work/host-full/CMakeCache.txt" || fail "a subproject builds the Python package"
    grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=$' "$work/host-full/CMakeCache.txt" || fail "a subproject chooses the build type of others"
    echo "a project of somebody else has Bough as a folder, built by $(basename "$compiler")"
}

# ---- the runtime, with nothing but a C compiler ----

check_runtime() {
    set -- -DBOUGH_RUNTIME_ONLY=ON
    for package in SuiteSparse OpenBLAS Jansson ZLIB; do
        set -- "$@" "-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"
    done
    quiet cmake -S "$root" -B "$work/runtime" "$@"
    quiet cmake --build "$work/runtime" --parallel "$(nproc)"
    quiet cmake --install "$work/runtime" --prefix "$work/rt"
    PKG_CONFIG_PATH=$(dirname "$(find "$work/rt" -name bough_rt.pc)")
    # shellcheck disable=SC2046
    quiet cc -std=c17 -O2 "$work/embed.c" $(pkg-config --cflags --libs bough_rt) \
        -Wl,-rpath,"$(pkg-config --variable=libdir bough_rt)" -o "$work/embed-rt"
    "$work/embed" "$work/y.pack" >"$work/static.txt"
    "$work/embed-rt" "$work/y.pack" >"$work/shared.txt"
    cmp "$work/static.txt" "$work/shared.txt" || fail "shared and static libraries give other figures"
    if cmake -S "$work/projects/cmake" -B "$work/none" -DCMAKE_PREFIX_PATH="$work/rt" >"$work/log" 2>&1; then
        fail "find_package finds components that are not installed"
    fi
    tr -s ' \n' '  ' <"$work/log" | grep -q 'only the runtime is installed here' || fail "find_package does not say what is missing"
    mkdir "$work/misspelt"
    sed 's/COMPONENTS .*)/COMPONENTS rtt)/' "$work/projects/cmake/CMakeLists.txt" >"$work/misspelt/CMakeLists.txt"
    ! cmake -S "$work/misspelt" -B "$work/misspelt/build" -DCMAKE_PREFIX_PATH="$work/rt" >"$work/log" 2>&1 || fail "find_package takes any component"
    tr -s ' \n' '  ' <"$work/log" | grep -q 'there is no component "rtt"; there are rt, full' || fail "find_package does not say which components there are"
    echo "the runtime alone: $(find "$work/rt" -type f | wc -l) files"
}

check_versions
check_symbols
check_headers
check_manual
check_viewer
check_export
check_projects
check_sdl
check_python
check_runtime
check_subproject
echo "what is installed works from where it was moved to"
