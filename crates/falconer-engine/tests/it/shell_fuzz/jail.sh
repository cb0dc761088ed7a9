# Makes a jail of the namespaces it was started in, and runs the driver inside it.
# Arguments: the writable directory, the number of the user (empty: keep ours), the driver with
# its arguments.
set -eu
base=$1 user=$2
shift 2
mount --make-rprivate /
mount --bind "$base" "$base"
mount --bind "$base/tmp" /tmp
mount --bind "$base/tmp" /dev/shm
mount -t proc proc /proc
while read -r _ _ _ _ point _; do
    case $point in
    "$base" | /tmp | /dev/shm | /proc*) ;;
    *) mount -o remount,bind,ro "$point" 2>/dev/null || true ;;
    esac
done </proc/self/mountinfo
# Every address leads to this namespace, so that each connection is counted and none gets out.
ip link set lo up
ip route add local 0.0.0.0/0 dev lo 2>/dev/null || true
options=(--no-new-privs --bounding-set=-all --inh-caps=-all)
[ -z "$user" ] || options+=(--reuid="$user" --regid="$user" --clear-groups)
ulimit -c 0 -t 3000 -u 512 -n 256
# Not the first process, which no signal would reach.
[ -z "$FALCONER_FUZZ_JAIL" ] || { setpriv "${options[@]}" "$@"; exit; }
exec setpriv "${options[@]}" "$@"
