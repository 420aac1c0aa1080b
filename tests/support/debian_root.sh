# Clean Debian systems in folders, made by debootstrap. To be sourced by scripts that are root.

# in_mount_namespace SCRIPT ARGS: starts the script again where whatever it mounts goes with it; returns there.
in_mount_namespace() {
  [ -z "${IN_MOUNT_NAMESPACE:-}" ] || { unset IN_MOUNT_NAMESPACE; return 0; }
  IN_MOUNT_NAMESPACE=1 exec unshare --mount --propagation private "$@"
}

# debian_mirror SUITE: the mirror that this machine uses: the one with this suite, or else with the machine's own, for a mirror has all.
debian_mirror() {
  local mirror
  mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Identifier: Packages' |
    awk -v suite="$1" -v own="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" '
      $1 == suite && !first { first = $2 }
      $1 == own && !other { other = $2 }
      END { print first ? first : other }')
  echo "${mirror:-http://deb.debian.org/debian}"
}

# make_debian_root FOLDER SUITE DEPENDS [DEBOOTSTRAP FLAGS]: FOLDER/root, with packages as a Depends field names them. One that was made for
# the same is left as it is. In a mount namespace; returns 3 where this machine cannot.
make_debian_root() {
  local folder=$1 suite=$2 depends=$3 wanted="${*:2}" mirror
  [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ] || return 0
  mirror=$(debian_mirror "$suite")
  printf 'making a root of %s from %s (once, some minutes)\n' "$suite" "$mirror" >&2
  rm -rf "$folder/root" "$folder/wanted"
  mkdir -p "$folder"
  if ! {
    debootstrap --variant=minbase "${@:4}" "$suite" "$folder/root" "$mirror" &&
      mount -t proc proc "$folder/root/proc" &&
      DEBIAN_FRONTEND=noninteractive chroot "$folder/root" apt-get satisfy -y --no-install-recommends "$depends" &&
      chroot "$folder/root" apt-get clean &&
      umount "$folder/root/proc"
  } >"$folder/root.log" 2>&1; then
    tail -n 20 "$folder/root.log" >&2
    return 3
  fi
  printf '%s\n' "$wanted" >"$folder/wanted"
}

# enter_debian_root FOLDER SHARED…: mounts in FOLDER/root what programs there need of the kernel, and folders that they share with this
# system, under the same names. In a mount namespace.
enter_debian_root() {
  local root=$1/root shared
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
