# Runs commands one after the other, and reports what each left behind.
# Reads pairs of strings that end with NUL: a scene, a command. Answers with one line for each:
# `DONE`, exit code, connections and datagrams sent so far, names of processes left over.
# Environment: JAILED=1 if nobody else's processes are in sight, TRACE=1 to trace programs,
# READING with a NAME=VALUE on each line for the commands.
base=$1
# Bash tells of every command that was killed.
exec 2>/dev/null
mapfile -t reading < <(printf %s "$READING")
tracer=()
ulimit -c 0 -t 3 -u 256 -f 4096 -v 4000000 -n 256
run='FALCONER_COMMAND=$1; shift; eval "$FALCONER_COMMAND"'
[ -z "$TRACE" ] || tracer=(strace -f -qq -s 4096 -v -e trace=execve,execveat -e signal=none -o "$base/trace")
network() {
    local name a b c d e _
    tcp=0 udp=0
    while read -r name a b c d e _; do
        case $name:$a in
        Tcp::[0-9]*) tcp=$e ;;
        Udp::[0-9]*) udp=$d ;;
        esac
    done </proc/net/snmp
}
leftover() {
    local process
    left=
    for process in /proc/[0-9]*; do
        case $process in
        /proc/1 | "/proc/$$") ;;
        *) [ "$JAILED" = 1 ] && read -r name <"$process/comm" && left+=" $name" ;;
        esac
    done 2>/dev/null
}
while IFS= read -r -d '' scene && IFS= read -r -d '' command; do
    (
        cd "$base/$scene/work" || exit 125
        exec env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$base/$scene/home" LANG=C.UTF-8 \
            CLAUDECODE=1 GIT_EDITOR=true "${reading[@]}" \
            timeout --signal=KILL 1 "${tracer[@]}" bash -c "$run" bash "$command"
    ) </dev/null >"$base/out" 2>&1
    code=$?
    leftover
    if [ -n "$left" ]; then
        # What was only just ending is not left over.
        sleep 0.05
        leftover
        [ "$JAILED" = 1 ] && kill -KILL -1 2>/dev/null
    fi
    network
    printf '%s\n' "DONE $code $tcp $udp$left"
done
