# Clean Debian systems in folders, made by debootstrap. To be sourced by scripts that are root.

# in_mount_namespace SCRIPT ARGS: starts the script again where whatever it mounts goes with it;
# returns there.
in_mount_namespace() {
  [ -z "${IN_MOUNT_NAMESPACE:-}" ] || { unset IN_MOUNT_NAMESPACE; return 0; }
  IN_MOUNT_NAMESPACE=1 exec unshare --mount --propagation private "$@"
}

# debian_mirror SUITE: the mirror that this machine uses: the one with this suite, or else with the
# machine's own, for a mirror has all.
debian_mirror() {
  local mirror
  mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Identifier: Packages' |
    awk -v suite="$1" -v own="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" '
      $1 == suite && !first { first = $2 }
      $1 == own && !other { other = $2 }
      END { print first ? first : other }')
  echo "${mirror:-http://deb.debian.org/debian}"
}

# emulate ARCHITECTURE: has the kernel run its programs by Debian's qemu-user-static, in roots too.
# In a mount namespace, and for as long as that lives: kernels since 6.7 forget who runs what with
# the last binfmt_misc that is mounted.
emulate() {
  local kernel=/proc/sys/fs/binfmt_misc name
  case $1 in
    "$(dpkg --print-architecture)") return 0 ;;
    arm64) name=qemu-aarch64 ;;
    *) printf 'nothing emulates %s here\n' "$1" >&2; return 3 ;;
  esac
  if ! [ -e "$kernel/register" ] && ! mount -t binfmt_misc binfmt_misc "$kernel"; then
    printf 'this kernel runs no programs of %s: it has no binfmt_misc\n' "$1" >&2
    return 3
  fi
  # Another namespace may be faster.
  [ -e "$kernel/$name" ] || cat "/usr/lib/binfmt.d/$name.conf" >"$kernel/register" 2>/dev/null || [ -e "$kernel/$name" ]
}

# make_debian_root FOLDER SUITE ARCHITECTURE DEPENDS [DEBOOTSTRAP FLAGS]: FOLDER/root, with packages
# as a Depends field names them; with PACKAGE:amd64 (this machine's architecture) among them also
# those that need no emulation. One that was made for the same is left as it is. In a mount
# namespace; returns 3 where this machine cannot.
make_debian_root() {
  local folder=$1 suite=$2 architecture=$3 depends=$4 wanted="${*:2}" mirror own
  own=$(dpkg --print-architecture)
  emulate "$architecture" || return 3
  [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ] || return 0
  mirror=$(debian_mirror "$suite")
  printf 'making a root of %s for %s from %s (once, some minutes)\n' "$suite" "$architecture" "$mirror" >&2
  rm -rf "$folder/root" "$folder/wanted"
  mkdir -p "$folder"
  if ! {
    debootstrap --variant=minbase --arch="$architecture" "${@:5}" "$suite" "$folder/root" "$mirror" &&
      mount -t proc proc "$folder/root/proc" &&
      { [[ "$depends" != *:"$own"* ]] || { chroot "$folder/root" dpkg --add-architecture "$own" && chroot "$folder/root" apt-get update; }; } &&
      DEBIAN_FRONTEND=noninteractive chroot "$folder/root" apt-get satisfy -y --no-install-recommends "$depends" &&
      chroot "$folder/root" apt-get clean &&
      umount "$folder/root/proc"
  } >"$folder/root.log" 2>&1; then
    tail -n 20 "$folder/root.log" >&2
    return 3
  fi
  printf '%s\n' "$wanted" >"$folder/wanted"
}

# enter_debian_root FOLDER SHARED…: mounts in FOLDER/root what programs there need of the kernel,
# and folders that they share with this system, under the same names. In a mount namespace.
enter_debian_root() {
  local root=$1/root shared architecture
  read -r _ architecture _ <"$1/wanted"
  emulate "$architecture" || return 3
  # Programs there that unshare their mounts need a / that is one.
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  for shared in "${@:2}"; do
    mkdir -p "$root$shared"
    mount --bind "$shared" "$root$shared"
  done
}
