#!/bin/bash
# What the real one installs (ICU, OpenSSL, ...), through the machine's package manager.
if [[ $(id -u) -ne 0 ]]; then
    echo 'Need to run with sudo privilege'
    exit 1
fi
for manager in apt-get dnf yum; do
    if command -v "$manager" >/dev/null; then
        exec "$manager" install -y libicu
    fi
done
