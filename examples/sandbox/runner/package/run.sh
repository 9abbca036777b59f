#!/bin/bash
# Serves jobs until it is told to stop; an ephemeral runner until its one job is done.
if [[ $(id -u) -eq 0 && -z ${RUNNER_ALLOW_RUNASROOT-} ]]; then
    echo 'Must not run interactively with sudo'
    exit 1
fi
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
start='import sys; sys.path.insert(0, "bin"); from listener.main import main; sys.exit(main())'
exec python3 -I -S -c "$start" run "$@"
