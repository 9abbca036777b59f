#!/bin/bash
# Registers this runner, or removes its registration: ./config.sh [remove] --help
if [[ $(id -u) -eq 0 && -z ${RUNNER_ALLOW_RUNASROOT-} ]]; then
    echo 'Must not run with sudo'
    exit 1
fi
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
start='import sys; sys.path.insert(0, "bin"); from listener.main import main; sys.exit(main())'
exec python3 -I -S -c "$start" configure "$@"
