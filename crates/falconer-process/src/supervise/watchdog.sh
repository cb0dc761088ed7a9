# Outlives the program that uses falconer, to clean up after it if it is killed.
#
# stdin: a pipe on which nothing is ever written; its end means that the program is gone.
# stdout: not for output. A file in memory with a line `PID START MARKER NUMBER` for each process
# that is guarded: its id, its start time in clock ticks, the name of its marker variable, the
# limit that its descendants have. The first two are 0 while it is being started. Lines that are free are blank. It is read when the program
# is gone and not before, so that sessions that come and go cost nothing here. What is guarded
# then gets SIGTERM, two seconds, and SIGKILL for the whole tree. Nothing guarded: nothing to do.
#
# Plain POSIX sh; besides builtins it uses `grep` (without it, processes that lost their parents
# are not found), `sleep` and `rm`. It reads /proc itself, because `ps` may not be installed.

unset FALCONER_WATCHDOG
trap '' HUP INT QUIT TERM PIPE TSTP

newline='
'
read -r nothing

roots=
markers=
numbers=
private=
while read -r pid start marker number; do
    [ -n "$marker" ] || continue
    roots="$roots$pid $start$newline"
    markers="$markers$marker=$newline"
    numbers="$numbers $number $newline"
    private="$private $marker"
done <&1
exec >/dev/null
[ -n "$roots" ] || exit 0

# Sets state, ppid, flags, start and code of process $1; fails if there is none, or if it is dead
# already. The code begins at 0 while there is no program.
look_at() {
    line=
    while read -r part; do
        line="$line $part"
    done <"/proc/$1/stat"
    # The name, in parentheses, may contain anything, even a newline or a parenthesis.
    set -- ${line##*) }
    [ $# -ge 24 ] || return 1
    state=$1
    ppid=$2
    flags=$7
    shift 19
    start=$1
    code=$5
    [ "$state" != Z ] && [ "$state" != X ]
}

# Sets living_roots to the ids of the guarded processes that live.
find_roots() {
    living_roots=
    set -- $roots
    while [ $# -ge 2 ]; do
        if look_at "$1" && [ "$start" = "$2" ]; then
            living_roots="$living_roots $1"
        fi
        shift 2
    done
}

# Adds process $1 to members, unless it is there, or is us, or is init.
add() {
    case "$members" in
    *" $1 "*) return ;;
    esac
    [ "$1" -gt 1 ] && [ "$1" != "$$" ] && members="$members$1 "
}

# Whether the process that was looked at is just becoming another program, and so has no
# environment yet. It is neither exiting (4) nor a thread of the kernel (0x200000).
is_becoming() {
    [ "$code" = 0 ] && [ $((flags & 0x200004)) -eq 0 ]
}

# Sets members to everybody who is to be killed: roots, marked processes, and descendants; and
# becoming to 1 if somebody may have been missed.
find_members() {
    members=' '
    becoming=0
    find_roots
    for pid in $living_roots; do
        add "$pid"
    done
    for file in $(printf '%s' "$markers" | grep -lsF -f - /proc/[0-9]*/environ); do
        pid=${file#/proc/}
        add "${pid%/environ}"
    done
    for file in $(printf '%s' "$numbers" | grep -lsF -f - /proc/[0-9]*/limits); do
        pid=${file#/proc/}
        pid=${pid%/limits}
        # The dead have limits, too.
        ! look_at "$pid" || add "$pid"
    done
    pairs=
    for directory in /proc/[0-9]*; do
        pid=${directory#/proc/}
        look_at "$pid" || continue
        pairs="$pairs $pid:$ppid"
        ! is_becoming || becoming=1
    done
    before=
    while [ "$before" != "$members" ]; do
        before=$members
        for pair in $pairs; do
            case "$members" in
            *" ${pair#*:} "*) add "${pair%:*}" ;;
            esac
        done
    done
}

# Whether process $1 has the limit of a guarded one.
is_tagged() {
    while read -r line; do
        case "$line" in
        "Max file locks "* | "Max resident set "* | "Max realtime timeout "*)
            set -- $line
            case "$numbers" in
            *" $5 "*) return 0 ;;
            esac
            ;;
        esac
    done <"/proc/$1/limits"
    return 1
}

# Kills those who fork and exit all the time, and so are gone before a round over everybody meets
# them: looks at the newest processes only, again and again. Sets caught to 1 if there were any.
chase() {
    caught=0
    chases=0
    while [ $chases -lt 50 ]; do
        chases=$((chases + 1))
        read -r one five fifteen running last </proc/loadavg
        for pid in "$last" $((last - 1)) $((last - 2)) $((last - 3)); do
            [ "$pid" != "$$" ] && is_tagged "$pid" && look_at "$pid" || continue
            if kill -KILL "$pid"; then
                caught=1
            fi
        done
    done
}

# Removes what confined processes may have left in their private directories.
tidy() {
    for marker in $private; do
        rm -rf -- "$FALCONER_PRIVATE/$marker"
    done
}

# The kernel has sent SIGTERM to the roots when the program died; this is for their groups.
find_roots
for pid in $living_roots; do
    kill -TERM -- "-$pid"
done
tries=0
while [ -n "$living_roots" ] && [ $tries -lt 20 ]; do
    sleep 0.1 || sleep 1
    tries=$((tries + 1))
    find_roots
done

# Sets now to the seconds since the machine was started.
seconds() {
    read -r now idle </proc/uptime
    now=${now%.*}
}

# Freeze until nobody new appears (or somebody always does), kill, and look again until nobody is
# left: twice, because somebody may have become another program just while the environments were
# read. Somebody who cannot be killed is given up after half a minute.
seconds
limit=$((now + 30))
empty=0
while [ "$now" -lt $limit ]; do
    find_members
    seconds
    if [ "$members" = ' ' ]; then
        chase
        [ $becoming = 1 ] || [ $caught = 1 ] || empty=$((empty + 1))
        [ $empty -lt 2 ] || break
        sleep 0.05 || sleep 1
        continue
    fi
    empty=0
    frozen=
    freezes=0
    while [ "$members" != "$frozen" ] && [ $freezes -lt 3 ]; do
        freezes=$((freezes + 1))
        kill -STOP $members
        frozen=$members
        find_members
    done
    kill -KILL $members $frozen
    chase
    sleep 0.05 || sleep 1
done
tidy
