#!/bin/sh
# Runs as the first program of a machine that has the two disks: RAID 1 and LVM over them, which
# take a kernel of their own. Says where the logical volume lies, in sectors.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mkdir -p /proc /sys /dev /run /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in nvme md_mod raid1 dm_mod; do modprobe $module; done
tries=0
while [ ! -b /dev/nvme1n1p2 ] && [ $tries -lt 150 ]; do sleep 0.2; tries=$((tries + 1)); done
mdadm --create /dev/md0 --run --assume-clean --level=1 --metadata=1.2 --raid-devices=2 \
  --bitmap=none --homehost=metal --name=0 --uuid=11111111:22222222:33333333:44444444 \
  /dev/nvme0n1p2 /dev/nvme1n1p2
lvm pvcreate -ff -y /dev/md0
lvm vgcreate vg0 /dev/md0
lvm lvcreate -y -Wn -Zn -n root -l 95%FREE vg0
# No program but these is in the initial RAM disk; `read` takes the blanks away.
mdadm --examine /dev/nvme0n1p2 > /tmp/array
while read -r name word _ sectors _; do
  [ "$name $word" = "Data Offset" ] && echo "layout data-offset $sectors"
done < /tmp/array
lvm pvs --noheadings --nosuffix --units s -o pe_start > /tmp/extents
read -r start < /tmp/extents
echo "layout extents-start $start"
lvm lvs --noheadings --nosuffix --units s -o lv_size vg0/root > /tmp/volume
read -r size < /tmp/volume
echo "layout volume-size $size"
lvm vgchange -an vg0
mdadm --stop /dev/md0
sync
echo o > /proc/sysrq-trigger
sleep 20
