#!/bin/bash
# mmdebstrap customise hook: customise.sh ROOT WORK SUITE KERNEL_LINE
# ROOT is the unpacked system, WORK holds overlay/, disk.raw and disk1.raw, and takes boot/. The
# first disk has an EFI system partition and the root on btrfs; the second one stays empty.
# Boot loader and kernel are signed by the key that the firmware's variables know: that of OVMF's
# package, which everybody has.
set -euo pipefail
root=$1 work=$2
esp_sectors=$((300 << 11)) first=2048
volume=bbbbbbbb-cccc-dddd-eeee-ffffffffffff

cp -R --no-preserve=ownership "$work/overlay/." "$root/"
chown -R 0:0 "$root/root/.ssh" "$root/etc/ssh"
chmod 700 "$root/root/.ssh"
chmod 600 "$root/root/.ssh/authorized_keys" "$root/etc/ssh/ssh_host_ed25519_key"
rm -f "$root"/etc/ssh/ssh_host_rsa_key* "$root"/etc/ssh/ssh_host_ecdsa_key*
echo sdboot > "$root/etc/hostname"
echo '127.0.0.1 localhost sdboot' > "$root/etc/hosts"
# QEMU's user network answers names here.
echo 'nameserver 10.0.2.3' > "$root/etc/resolv.conf"
tr -d - < /proc/sys/kernel/random/uuid > "$root/etc/machine-id"
mkdir -p "$root/efi"
touch "$root/etc/lab-first-boot"
for unit in apt-daily.timer apt-daily-upgrade.timer fstrim.timer dpkg-db-backup.timer \
  systemd-pcrlock.socket getty@tty1.service man-db.timer btrfs-scrub.timer; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
chroot "$root" systemctl enable systemd-networkd.service ssh.service lab-first-boot.service

kernel=$(basename "$(find "$root/boot" -name 'vmlinuz-*' | sort -V | tail -n 1)")
release=${kernel#vmlinuz-}
chroot "$root" dracut --force "/boot/initrd.img-$release" "$release"
key="$work/boot/key.pem" certificate=/usr/share/ovmf/PkKek-1-snakeoil.pem
openssl rsa -in /usr/share/ovmf/PkKek-1-snakeoil.key -passin pass:snakeoil -out "$key"
for signed in "$root/boot/$kernel" "$root/usr/lib/systemd/boot/efi/systemd-bootx64.efi"; do
  sbsign --key "$key" --cert "$certificate" --output "$work/boot/signed" "$signed"
  # Beside the loader: its installer takes what ends so.
  case $signed in *.efi) signed+=.signed ;; esac
  cp "$work/boot/signed" "$signed"
done
rm "$key" "$work/boot/signed"
cp "$root/boot/$kernel" "$work/boot/vmlinuz"
cp "$root/boot/initrd.img-$release" "$work/boot/initrd.img"
echo "$release" > "$work/boot/release"
mkdir "$work/boot/loader"
printf 'default system.conf\ntimeout 1\n' > "$work/boot/loader/loader.conf"
cat > "$work/boot/loader/system.conf" << ENTRY
title Debian GNU/Linux
version $release
linux /system/vmlinuz
initrd /system/initrd.img
options root=UUID=$volume rw console=tty0 console=ttyS1,115200
ENTRY

chroot "$root" apt-get clean
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/tmp/* "$root"/var/log/*.log \
  "$root"/var/log/apt "$root"/usr/share/man "$root"/usr/share/doc "$root"/usr/share/locale
rm -f "$root/usr/sbin/policy-rc.d"

printf 'label: gpt\nlabel-id: 0FC63DAF-8483-4772-8E79-3D69D8477D02\n%s\n%s\n' \
  "start=$first, size=$esp_sectors, type=uefi, name=esp" "type=linux, name=root" |
  sfdisk -q "$work/disk.raw"
start=$(((first + esp_sectors) * 512))
size=$(($(stat -c %s "$work/disk.raw") - start - (1 << 20)))
# Without recursion the bind mount leaves out /proc, /sys and /dev of the build.
mkdir "$work/boot/root"
mount --bind "$root" "$work/boot/root"
truncate -s "$size" "$work/boot/root.btrfs"
mkfs.btrfs -q -U "$volume" --rootdir "$work/boot/root" "$work/boot/root.btrfs"
umount "$work/boot/root"
rmdir "$work/boot/root"
dd if="$work/boot/root.btrfs" of="$work/disk.raw" bs=1M oflag=seek_bytes seek="$start" \
  conv=notrunc,sparse status=none
rm "$work/boot/root.btrfs"

# Clusters of 4 KiB: firmware takes minutes to read a kernel in clusters of 512 bytes.
mkfs.vfat --offset "$first" -s 8 -F 32 -i E5E50000 -n ESP "$work/disk.raw" \
  "$((esp_sectors / 2))" > /dev/null
at="$work/disk.raw@@1M"
mmd -i "$at" ::/EFI ::/EFI/systemd ::/EFI/BOOT ::/loader ::/loader/entries ::/system
stub="$root/usr/lib/systemd/boot/efi/systemd-bootx64.efi.signed"
mcopy -i "$at" "$stub" ::/EFI/systemd/systemd-bootx64.efi
mcopy -i "$at" "$stub" ::/EFI/BOOT/BOOTX64.EFI
mcopy -i "$at" "$work/boot/loader/loader.conf" ::/loader/loader.conf
mcopy -i "$at" "$work/boot/loader/system.conf" ::/loader/entries/system.conf
mcopy -i "$at" "$work/boot/vmlinuz" "$work/boot/initrd.img" ::/system
rm -r "$work/boot/loader"
chmod 644 "$work/boot/"*
