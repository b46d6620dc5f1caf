# What an image of the operator's is told over SSH, as root: the same lines as the measuring
# guest's own first process says, and one iperf3 server for each test. Its output is their way
# out. `CONTROL` is the address of the network device that SSH comes through, `ADDRESS` what the
# other one gets.
fail() {
  echo "MITIGAUGE-GUEST-FAILED $*"
  exit 1
}
for program in iperf3 ip; do
  command -v "$program" >/dev/null || fail "$program is not installed in the guest's image"
done
[ "$(id -u)" = 0 ] || fail "the image's user is not root, and sudo gave no root"

device=
for each in /sys/class/net/*; do
  # 1 is Ethernet.
  [ "$(cat "$each/type")" = 1 ] && [ "$(cat "$each/address")" != "$CONTROL" ] && device=${each##*/}
done
[ -n "$device" ] || fail "the image shows no second network device: it lacks virtio-net"
ip link set "$device" up || fail "$device does not come up"
ip address flush dev "$device"
ip address add "$ADDRESS" dev "$device" || fail "$device does not take $ADDRESS"

while IFS= read -r line; do
  case $line in
    vendor_id* | "cpu family"* | model* | stepping* | flags*) echo "MITIGAUGE-GUEST-CPU $line" ;;
    "") break ;;
  esac
done </proc/cpuinfo
for file in /sys/devices/system/cpu/vulnerabilities/*; do
  [ -e "$file" ] && echo "MITIGAUGE-GUEST-VULNERABILITY ${file##*/}: $(cat "$file")"
done
echo "MITIGAUGE-GUEST-KERNEL release: $(uname -r)"
echo "MITIGAUGE-GUEST-KERNEL cmdline: $(cat /proc/cmdline)"

number=0
while :; do
  number=$((number + 1))
  iperf3 --server --one-off </dev/null >/dev/null 2>&1 &
  server=$!
  # 1451 is port 5201 in the kernel's hexadecimal tables, 0A the listening state.
  until grep -q ':1451 .* 0A ' /proc/net/tcp /proc/net/tcp6 2>/dev/null; do
    kill -0 "$server" 2>/dev/null || fail "iperf3 does not serve: is port 5201 taken?"
    sleep 0.05
  done
  echo "MITIGAUGE-GUEST-READY $number"
  wait "$server"
done
