#!/bin/sh
# check_debian.sh [FOLDER]: builds the Debian packages, installs them in a fresh minimal system of the same release, and
# uses them there. The packages are left in FOLDER, if one is named. It needs root, a network, and the packages
# debhelper, debootstrap, dpkg-dev and lintian (./bough setup debian), and takes some minutes: .ci/run leaves it out.
set -eu
cd "$(dirname -- "$0")/.."
root=$PWD
keep=${1:-}
[ "$(id -u)" = 0 ] || { echo "check_debian: only root can make a fresh system; run it as root" >&2; exit 1; }
work=$(mktemp -d)
clean() {
    umount "$work/system/proc" 2>/dev/null || :
    rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM
began=$(date +%s)
step() { echo "== $1 ($(($(date +%s) - began)) s)"; }
fail() {
    echo "check_debian: $*" >&2
    exit 1
}
quiet() {
    "$@" >"$work/log" 2>&1 || {
        tail -n 40 "$work/log" >&2
        fail "this failed: $*"
    }
}

step "packages"
version=$(sed -n '1s/^bough (\([^-]*\)-.*/\1/p' debian/changelog)
mkdir "$work/bough-$version"
git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$work/bough-$version"
mkdir -p "$work/bough-$version/viewer/node_modules"
cp -r viewer/node_modules/. "$work/bough-$version/viewer/node_modules"
cd "$work/bough-$version"
quiet dpkg-buildpackage -us -uc -b
cd "$work"
rm -rf "$work/bough-$version"
ls -l ./*.deb | awk '{ printf "%8.1f kB  %s\n", $5 / 1000, $NF }'
[ -z "$keep" ] || { mkdir -p "$root/$keep" 2>/dev/null || :; cp ./*.deb ./*.changes ./*.buildinfo "$keep"; }

step "lintian"
lintian --allow-root --tag-display-limit 0 --fail-on error ./*.changes || fail "lintian finds errors"

step "a fresh system"
. /etc/os-release
# The archive that this machine installs from.
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 2>/dev/null |
    awk -v release="$VERSION_CODENAME" '$2 == release && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || fail "apt does not say where $VERSION_CODENAME comes from"
quiet debootstrap --variant=minbase "$VERSION_CODENAME" "$work/system" "$mirror"
cp /etc/resolv.conf /etc/hosts "$work/system/etc/"
mkdir "$work/system/packages"
cp ./*.deb "$work/system/packages"
mount -t proc proc "$work/system/proc" 2>/dev/null || : # a container may not; little needs it
inside() {
    chroot "$work/system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "$@"
}
get() {
    quiet inside apt-get -qq -o APT::Sandbox::User=root install -y --no-install-recommends "$@"
}

step "the runtime, by itself"
before=$(inside dpkg-query -W | wc -l)
get "/packages/libbough-rt0_$version-1_$(dpkg --print-architecture).deb"
[ "$(inside dpkg-query -W | wc -l)" = $((before + 1)) ] || fail "libbough-rt0 pulls other packages in"

step "everything"
get $(cd "$work/system" && find packages -name '*.deb' ! -name '*-dbgsym_*' | sed 's|^|/|')
[ "$(inside bough --version)" = "bough $version" ] || fail "bough --version does not say $version"
[ -f "$work/system/usr/share/bough/viewer/node_modules/three/build/three.module.js" ] || fail "the viewer lacks three.js"
get gcc g++ libc6-dev make pkgconf cmake
mkdir "$work/system/tests"
cp "$root/debian/tests/installed" "$work/system/tests/"
inside sh /tests/installed
inside sh -ec 'cp -r /usr/share/bough/examples /tmp/examples && cd /tmp/examples/projects/cmake
    cmake -S . -B build && cmake --build build && build/pack /tmp/examples/y-tree/scene.json y.pack && build/sway y.pack
    cd /tmp/examples && cc -O2 embed.c $(pkg-config --cflags --libs bough_rt) -o embed && ./embed projects/cmake/y.pack | tail -n 1' >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "the projects cannot be built with the packages"; }
tail -n 2 "$work/log"

step "gone again"
quiet inside apt-get -qq purge -y '^bough$' '^libbough.*'
left=$(cd "$work/system" && find usr/bin usr/lib usr/share usr/include -name '*bough*')
[ -z "$left" ] || fail "these files stay when the packages are removed: $left"
step "the packages work in a fresh $VERSION_CODENAME"
