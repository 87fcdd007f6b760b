#!/bin/sh
# A to-do list in a text file, one item a line. TODO_FILE names the file.
set -eu
file=${TODO_FILE:-todo.txt}
[ -e "$file" ] || : >"$file"

usage() {
    echo "usage: todo.sh add TEXT | list | done N" >&2
    exit 2
}

add() {
    printf '%s\n' "$1" >>"$file"
}

list() {
    n=0
    while IFS= read -r item; do
        n=$((n + 1))
        printf '%s. %s\n' "$n" "$item"
    done <"$file"
}

finish() {
    n=0 found=no
    while IFS= read -r item; do
        n=$((n + 1))
        if [ "$n" = "$1" ]; then
            found=yes
        else
            printf '%s\n' "$item"
        fi
    done <"$file" >"$file.new"
    if [ "$found" = no ]; then
        rm "$file.new"
        echo "todo.sh: no item $1" >&2
        exit 1
    fi
    mv "$file.new" "$file"
}

case "${1:-} $#" in
"add 2") add "$2" ;;
"list 1") list ;;
"done 2") finish "$2" ;;
*) usage ;;
esac
