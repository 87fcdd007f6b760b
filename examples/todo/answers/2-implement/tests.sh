#!/bin/sh
# The tests of todo.sh. Run: sh tests.sh
set -u
TODO_FILE=${TMPDIR:-/tmp}/todo-tests.$$
export TODO_FILE
trap 'rm -f "$TODO_FILE" "$TODO_FILE.new"' EXIT
n_failed=0

# expect NAME STATUS OUTPUT ARGUMENT...: runs todo.sh with the arguments.
expect() {
    name=$1 want="exit code $2: $3"
    shift 3
    printed=$(sh todo.sh "$@" 2>&1)
    got="exit code $?: $printed"
    if [ "$got" = "$want" ]; then
        echo "ok      $name"
    else
        echo "FAILED  $name"
        echo "        expected $want"
        echo "        got      $got"
        n_failed=$((n_failed + 1))
    fi
}

expect "a new list is empty" 0 "" list
expect "an item is added" 0 "" add "buy milk"
expect "a second item is added" 0 "" add "call Ann"
expect "items are listed with numbers" 0 "1. buy milk
2. call Ann" list
expect "an unknown number is refused" 1 "todo.sh: no item 7" done 7
expect "an item is done" 0 "" done 1
expect "the other items stay" 0 "1. call Ann" list

[ "$n_failed" -eq 0 ]
