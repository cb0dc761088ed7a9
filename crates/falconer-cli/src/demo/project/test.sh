#!/bin/sh
# Known pairs of temperatures.
failed=0
check() {
    got=$(sh ./fahrenheit.sh "$1")
    if [ "$got" = "$2" ]; then
        echo "ok    $1 C is $2 F"
    else
        echo "WRONG $1 C is $2 F, not $got F"
        failed=1
    fi
}
check 0 32
check 37 98
check 100 212
[ "$failed" = 0 ] && echo "all good"
exit "$failed"
