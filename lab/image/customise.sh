#!/bin/bash
# mmdebstrap customise hook: customise.sh ROOT WORK SUITE KERNEL_LINE
# ROOT is the unpacked system, WORK holds overlay/, disk.raw and takes boot/.
set -euo pipefail
root=$1 work=$2 suite=$3 line=$4

mkdir -p "$root/etc/systemd/system-generators"
cp -R --no-preserve=ownership "$work/overlay/." "$root/"
chown -R 0:0 "$root/root/.ssh" "$root/etc/ssh"
chmod 700 "$root/root/.ssh"
chmod 600 "$root/root/.ssh/authorized_keys" "$root/etc/ssh/ssh_host_ed25519_key"
rm -f "$root"/etc/ssh/ssh_host_rsa_key* "$root"/etc/ssh/ssh_host_ecdsa_key*

# The kernel finds its root without an initial RAM disk, and making one takes a minute here.
chroot "$root" dpkg-divert --quiet --local --rename \
  --divert /etc/kernel/initramfs-tools.postinst --add /etc/kernel/postinst.d/initramfs-tools

kernel=$(chroot "$root" apt-cache pkgnames "linux-image-$line." |
  grep -E '^linux-image-[0-9.]+\+deb[0-9]+-cloud-amd64$' | sort -V | tail -n 1)
if [ -z "$kernel" ]; then
  echo "no linux-image-$line.*-cloud-amd64 in the archive" >&2
  exit 1
fi
chroot "$root" apt-get install -y --no-install-recommends -t "$suite-backports" "$kernel"
compgen -G "$root/boot/vmlinuz-*" > /dev/null || { echo "$kernel left no /boot/vmlinuz" >&2; exit 1; }

# A host that is measured runs nothing on its own.
chroot "$root" systemctl enable lab-processors.service lab-host.service ssh.service
chroot "$root" systemctl mask \
  apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
  e2scrub_reap.service fstrim.timer man-db.timer logrotate.timer \
  systemd-tmpfiles-clean.timer systemd-networkd.service systemd-networkd.socket \
  systemd-timesyncd.service systemd-resolved.service systemd-pstore.service \
  systemd-hwdb-update.service systemd-machine-id-commit.service \
  systemd-firstboot.service systemd-update-utmp.service systemd-binfmt.service \
  getty@tty1.service getty-static.service autovt@.service \
  systemd-tmpfiles-setup-dev-early.service systemd-udev-load-credentials.service \
  sys-kernel-debug.mount systemd-sysext.socket systemd-creds.socket \
  systemd-importd.socket systemd-mountfsd.socket systemd-nsresourced.socket \
  systemd-pcrlock.socket systemd-pcrextend.socket systemd-bootctl.socket \
  dev-hugepages.mount dev-mqueue.mount run-lock.mount sys-fs-fuse-connections.mount \
  sys-kernel-config.mount tmp.mount modprobe@configfs.service modprobe@fuse.service \
  systemd-hostnamed.socket systemd-random-seed.service systemd-logind.service \
  systemd-journal-flush.service systemd-user-sessions.service \
  grub-common.service qemu-guest-agent.service ldconfig.service
# Each generator is a process more in every boot; the lab needs fstab's and the console's.
for generator in debug gpt-auto hibernate-resume rc-local run ssh system-update sysv tpm2; do
  ln -s /dev/null "$root/etc/systemd/system-generators/systemd-$generator-generator"
done
# Scripts of update-grub that have nothing to find here; a second each.
chmod -x "$root"/etc/grub.d/30_os-prober "$root"/etc/grub.d/30_uefi-firmware \
  "$root"/etc/grub.d/20_linux_xen
# `linux` copies all the memory that a kernel asks for, byte by byte: 5 s of every emulated boot.
# `linux16` copies the file.
sed -i 's/^\tlinux\t/\tlinux16\t/' "$root/etc/grub.d/10_linux"
grep -q "$(printf '^\tlinux16\t')" "$root/etc/grub.d/10_linux" || {
  echo "10_linux of this GRUB has no line that loads a kernel by the command linux" >&2
  exit 1
}
chroot "$root" systemctl set-default multi-user.target
tr -d - < /proc/sys/kernel/random/uuid > "$root/etc/machine-id"
echo lab > "$root/etc/hostname"

chroot "$root" apt-get clean
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/tmp/* "$root"/var/log/*.log \
  "$root"/var/log/apt "$root"/usr/share/man "$root"/usr/share/doc "$root"/usr/share/locale
rm -f "$root/usr/sbin/policy-rc.d" "$root/etc/resolv.conf"
# QEMU's user network answers names here.
echo 'nameserver 10.0.2.3' > "$root/etc/resolv.conf"
chroot "$root" dpkg-query -W > "$work/boot/packages.txt"
cp "$root"/boot/vmlinuz-* "$work/boot/vmlinuz"
basename "$root"/boot/vmlinuz-* | sed s/vmlinuz-// > "$work/boot/release"

# Without recursion the bind mount leaves out /proc, /sys and /dev of the build.
mkdir "$work/boot/root"
mount --bind "$root" "$work/boot/root"
mke2fs -q -F -t ext4 -L lab -m 0 -i 65536 -O ^orphan_file,^metadata_csum_seed \
  -E offset=1048576,lazy_itable_init=0,lazy_journal_init=0,nodiscard \
  -d "$work/boot/root" "$work/disk.raw" "$(cat "$work/root-size-k")k"
umount "$work/boot/root"
rmdir "$work/boot/root"
