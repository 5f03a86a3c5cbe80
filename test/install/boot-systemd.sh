#!/bin/sh
# boot-systemd.sh PROJECT FOLDER: a machine of its own in namespaces, with this one's programs and no network, and the
# project where src/install/README.md has the package. systemd is its first process. For root; what it writes is in memory.
set -eu
project=$1
folder=$2

if [ "${3:-}" != inside ]; then
  cgroups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
  mkdir "$cgroups/framering-$$"
  echo $$ >"$cgroups/framering-$$/cgroup.procs"
  exec unshare --mount --net --pid --uts --ipc --cgroup --fork --kill-child sh "$0" "$project" "$folder" inside
fi

mount --make-rprivate /
mount -t tmpfs tmpfs "$folder"
root=$folder/root
mkdir "$folder/upper" "$folder/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for name in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$root/$name"; done
chmod 1777 "$root/tmp"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/full" c 1 7
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9
mknod -m 666 "$root/dev/tty" c 5 0
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm" "$root/dev/pts"
ip link set lo up

# As src/install/README.md has it.
package=$root/opt/framering/node_modules/framering
mkdir -p "$package"
mount --bind "$project" "$package"
install -D -m 644 "$package/src/install/framering.sysusers" "$root/usr/lib/sysusers.d/framering.conf"
install -D -m 644 "$package/src/install/framering.service" "$root/etc/systemd/system/framering.service"
# Nothing of this machine's own services is started.
printf '[Unit]\nRequires=systemd-journald.service\nAllowIsolate=yes\n' >"$root/etc/systemd/system/bare.target"

mkdir "$root/left"
cd "$root"
pivot_root . left
umount -l /left
# As systemd does on a machine, but not in what it takes for a container.
mount --make-rshared /
systemd-sysusers framering.conf
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --unit=bare.target --log-target=journal --show-status=0
