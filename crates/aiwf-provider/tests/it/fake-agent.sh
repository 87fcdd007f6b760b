#!/bin/sh
# Stands where an agent's program would stand; a test says in FAKE_SCRIPT what it does.
. "$FAKE_SCRIPT"
