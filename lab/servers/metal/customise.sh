#!/bin/bash
# mmdebstrap customise hook: customise.sh ROOT WORK SUITE KERNEL_LINE
# ROOT is the unpacked system, WORK holds overlay/, structure.sh, disk.raw and disk1.raw, and takes
# boot/. Two disks with GPT, each with an EFI system partition; the system on LVM over RAID 1.
set -euo pipefail
root=$1 work=$2
esp_sectors=$((300 << 11)) first=2048
volume=aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee

cp -R --no-preserve=ownership "$work/overlay/." "$root/"
chown -R 0:0 "$root/root/.ssh" "$root/etc/ssh"
chmod 700 "$root/root/.ssh"
chmod 600 "$root/root/.ssh/authorized_keys" "$root/etc/ssh/ssh_host_ed25519_key"
rm -f "$root"/etc/ssh/ssh_host_rsa_key* "$root"/etc/ssh/ssh_host_ecdsa_key*
echo metal > "$root/etc/hostname"
echo '127.0.0.1 localhost metal' > "$root/etc/hosts"
# QEMU's user network answers names here.
echo 'nameserver 10.0.2.3' > "$root/etc/resolv.conf"
tr -d - < /proc/sys/kernel/random/uuid > "$root/etc/machine-id"
mkdir -p "$root/boot/efi" "$root/boot/grub"
touch "$root/etc/lab-first-boot"

# By links: `systemctl mask` takes seconds for each where nothing is faster.
for unit in apt-daily.timer apt-daily-upgrade.timer fstrim.timer dpkg-db-backup.timer \
  e2scrub_all.timer mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer \
  systemd-pcrlock.socket getty@tty1.service grub-common.service man-db.timer; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
chroot "$root" systemctl enable systemd-networkd.service ssh.service lab-first-boot.service

kernel=$(basename "$(find "$root/boot" -name 'vmlinuz-*' | sort -V | tail -n 1)")
release=${kernel#vmlinuz-}
chroot "$root" update-initramfs -u -k "$release"
cp "$root/boot/$kernel" "$work/boot/vmlinuz"
cp "$root/boot/initrd.img-$release" "$work/boot/initrd.img"
echo "$release" > "$work/boot/release"
# The menu of the very first boot, which writes a whole one.
cat > "$root/boot/grub/grub.cfg" << MENU
set timeout=0
insmod lvm
insmod mdraid1x
menuentry 'first' {
	linux /boot/$kernel root=/dev/mapper/vg0-root ro console=tty0 console=ttyS1,115200
	initrd /boot/initrd.img-$release
}
MENU

for disk in 0 1; do
  printf 'label: gpt\nlabel-id: 0FC63DAF-8483-4772-8E79-3D69D8477D%02d\n%s\n%s\n' "$disk" \
    "start=$first, size=$esp_sectors, type=uefi, name=esp$disk" \
    "type=A19D880F-05FC-4D3B-A006-743F0F84911E, name=raid$disk" |
    sfdisk -q "$work/disk${disk/#0/}.raw"
done

# An archive in front of the initial RAM disk is read first. It has to end at a multiple of 512.
mkdir "$work/boot/archive"
install -m 755 "$work/structure.sh" "$work/boot/archive/structure"
(cd "$work/boot/archive" && echo structure | cpio -o -H newc --quiet) > "$work/boot/structure.img"
cat "$work/boot/initrd.img" >> "$work/boot/structure.img"
timeout 300 qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -smp 2 -m 768 -cpu max \
  -no-reboot -nographic -net none -kernel "$work/boot/vmlinuz" -initrd "$work/boot/structure.img" \
  -append 'console=ttyS0 rdinit=/structure quiet panic=1' \
  -drive "file=$work/disk.raw,format=raw,if=none,id=a" -device nvme,drive=a,serial=lab0 \
  -drive "file=$work/disk1.raw,format=raw,if=none,id=b" -device nvme,drive=b,serial=lab1 \
  < /dev/null > "$work/boot/structure.log" 2>&1 || true
layout() {
  tr -d '\r' < "$work/boot/structure.log" | sed -n "s/^layout $1 \([0-9]\{1,\}\)$/\1/p"
}
data=$(layout data-offset) extents=$(layout extents-start) size=$(layout volume-size)
if [ -z "$data" ] || [ -z "$extents" ] || [ -z "$size" ]; then
  tail -n 25 "$work/boot/structure.log" >&2
  echo "RAID and LVM were not made" >&2
  exit 1
fi
rm -r "$work/boot/archive" "$work/boot/structure.img"
start=$(((first + esp_sectors + data + extents) * 512))

chroot "$root" apt-get clean
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/tmp/* "$root"/var/log/*.log \
  "$root"/var/log/apt "$root"/usr/share/man "$root"/usr/share/doc "$root"/usr/share/locale
rm -f "$root/usr/sbin/policy-rc.d"
# Without recursion the bind mount leaves out /proc, /sys and /dev of the build.
mkdir "$work/boot/root"
mount --bind "$root" "$work/boot/root"
mke2fs -q -F -t ext4 -U "$volume" -m 0 \
  -E "offset=$start,lazy_itable_init=1,lazy_journal_init=1,root_owner=0:0" \
  -d "$work/boot/root" "$work/disk.raw" "$((size / 2))k"
umount "$work/boot/root"
rmdir "$work/boot/root"
dd if="$work/disk.raw" of="$work/disk1.raw" bs=1M iflag=skip_bytes oflag=seek_bytes \
  skip="$start" seek="$start" conv=notrunc,sparse status=none

printf 'search.fs_uuid %s root\nset prefix=($root)/boot/grub\nconfigfile $prefix/grub.cfg\n' \
  "$volume" > "$work/boot/esp-grub.cfg"
for disk in 0 1; do
  image="$work/disk${disk/#0/}.raw"
  # Clusters of 4 KiB: firmware takes minutes to read a kernel in clusters of 512 bytes.
  mkfs.vfat --offset "$first" -s 8 -F 32 -i "E5E5000$disk" -n "ESP$disk" "$image" \
    "$((esp_sectors / 2))" > /dev/null
  at="$image@@1M"
  mmd -i "$at" ::/EFI ::/EFI/debian ::/EFI/BOOT
  shim="$root/usr/lib/shim"
  mcopy -i "$at" "$shim/shimx64.efi.signed" ::/EFI/debian/shimx64.efi
  mcopy -i "$at" "$shim/shimx64.efi.signed" ::/EFI/BOOT/BOOTX64.EFI
  mcopy -i "$at" "$shim/fbx64.efi.signed" ::/EFI/BOOT/fbx64.efi
  mcopy -i "$at" "$shim/mmx64.efi.signed" ::/EFI/debian/mmx64.efi
  mcopy -i "$at" "$shim/BOOTX64.CSV" ::/EFI/debian/BOOTX64.CSV
  mcopy -i "$at" "$root/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" ::/EFI/debian/grubx64.efi
  mcopy -i "$at" "$work/boot/esp-grub.cfg" ::/EFI/debian/grub.cfg
done
chmod 644 "$work/boot/"*
