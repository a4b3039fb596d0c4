#!/bin/sh
# state_hashes.sh PROGRAM [WORD]: steps every example with every engine, coupling and integrator that it allows, and
# prints a hash of all that was recorded on the way (energies, momenta, probes, coordinates and poses of every step,
# all digits). WORD: only runs whose scene has it in its name.
# state_hashes.sh --compare OLD NEW: which runs of two such lists differ. Status 1 when some do.
#
# For changes that must not change what is simulated: a list made before, and one made after, by the same compiler on
# the same machine, are the same. A run that is refused is told with its sentence, which must stay, too.
#
# Example: tools/state_hashes.sh build/bough >/tmp/before ... tools/state_hashes.sh build/bough >/tmp/after
#          tools/state_hashes.sh --compare /tmp/before /tmp/after
set -eu
if [ "${1:-}" = --compare ]; then
    awk -F '\t' 'NR == FNR { old[$1] = $2; next }
        { runs++; seen[$1] = 1 }
        !($1 in old) { print "new: " $1; differ++; next }
        old[$1] != $2 { print "differs: " $1 "\n  was " old[$1] "\n  is  " $2; differ++ }
        END {
            for (name in old) if (!(name in seen)) { print "gone: " name; differ++ }
            print runs + 0 " runs, " differ + 0 " differ"
            exit differ > 0
        }' "$2" "$3"
    exit
fi
program=$(realpath -- "${1:?usage: state_hashes.sh PROGRAM [WORD], or --compare OLD NEW}")
word=${2:-}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 1' INT TERM
cd "$place"
cp -r "$root"/examples .
integrators=$("$program" integrators | awk 'NR > 1 { print $1 }')

sentence() { sed -n '/warning:/d; s/^bough: //p' run.log | tail -n 1; }

run() { # SCENE OPTIONS
    case $1 in *"$word"*) ;; *) return ;; esac
    rm -f run.csv run.npz
    if "$program" run "$@" --threads 1 --record run.csv --record run.npz >run.log 2>&1 ||
        "$program" run "$@" --threads 1 --record run.csv >run.log 2>&1; then
        told=$(cat run.csv run.npz 2>/dev/null | sha256sum | cut -c 1-32)
    else
        told="refused: $(sentence)"
    fi
    printf '%s\t%s\n' "$*" "$told"
}

every_integrator() { # SCENE OPTIONS
    for integrator in $integrators; do
        run "$@" --integrator "$integrator"
    done
}

for scene in examples/two-leaves/scene.json examples/y-tree/scene.json; do
    for coupling in L1 L2 L2R L3; do
        run "$scene" --time 0.1 --coupling "$coupling"
        run "$scene" --time 0.1 --coupling "$coupling" --passes 1
        run "$scene" --time 0.1 --coupling "$coupling" --passes 2
    done
    every_integrator "$scene" --time 0.05
done
every_integrator examples/y-tree/scene.json --engine full --time 0.02
every_integrator examples/beam/scene.json --time 0.1
for name in arm helix ladder loop pendulum urdf-arm y-mechanism hand walker trampoline; do
    for scene in examples/"$name"/scene*.json; do
        run "$scene" --time 0.2
        run "$scene" --time 0.05 --engine mechanism
        run "$scene" --time 0.05 --engine full
    done
done
every_integrator examples/pendulum/scene.json --time 0.1
every_integrator examples/y-mechanism/scene.json --time 0.05
every_integrator examples/pendulum/scene.json --time 0.05 --engine full

# Those that are made, and cooked once.
for made in 'oak --leaves 100' flower dragon letters station ring bridge chandelier 'storm --leaves 100' 'ball --leaves 100' 'forest --leaves 10'; do
    name=${made%% *}
    case $name/scene.json in *"$word"*) ;; *) continue ;; esac
    # shellcheck disable=SC2086
    if ! { "$program" example $made -o "$name" && "$program" cook "$name/scene.json"; } >run.log 2>&1; then
        printf '%s\trefused: %s\n' "$name" "$(sentence)"
        continue
    fi
    for coupling in L1 L2 L2R L3; do
        run "$name/scene.json" --time 0.1 --coupling "$coupling"
    done
    case $name in flower | letters) every_integrator "$name/scene.json" --time 0.05 ;; esac
done
