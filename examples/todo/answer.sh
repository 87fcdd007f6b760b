#!/bin/sh
# Plays the agent while `cargo xtask record-demo` records: answers the N-th call with the N-th answer, and copies its files.
# Usage: answer.sh ANSWERS COUNTER; the prompt is read from the standard input and not looked at.
set -eu
answers=$1 counter=$2
cat >/dev/null
n=0
[ ! -e "$counter" ] || read -r n <"$counter"
n=$((n + 1))
echo "$n" >"$counter"
for answer in "$answers/$n"-*; do
    if [ -d "$answer" ]; then
        cp "$answer"/* .
    else
        cat "$answer"
    fi
done
