# How the instance ends, and what it says before.

# A console that nobody reads any more must not keep the instance from its end.
trap : PIPE
say() { printf 'runner-fleet: %s\n' "$*" || true; }

# without_secrets TEXT: the text as it may be shown
without_secrets() {
  local text=$1 secret
  for secret in "$FLEET_TOKEN" "$FLEET_REMOVE_TOKEN" "$FLEET_JIT_CONFIG"; do
    [[ -z $secret ]] || text=${text//"$secret"/***}
  done
  printf '%s\n' "$text" || true
}

# complain CODE TEXT: the one line that says why this instance became no runner
complain() {
  local code=$1 text=$2
  [[ -z ${complained-} ]] || return 0
  complained=1
  if [[ $code != disk-full ]] && disk_is_full; then
    code=disk-full text="no space is left on the disk: $text"
  fi
  say "error [$code]: ${text//$'\n'/ }"
}

fail() {
  complain "$1" "$2"
  exit 1
}

disk_is_full() {
  local free
  free=$(df -Pk "${directory:-$root/}" 2>/dev/null | awk 'NR == 2 { print $4 }') || return 1
  [[ $free =~ ^[0-9]+$ ]] && ((free < 1024))
}

shutting_down() {
  [[ -n ${registered-} ]] || complain shutting-down "the instance shuts down before its runner registers"
  complained=1
  exit 143
}

power_off() {
  local status=$?
  set +e
  trap - EXIT ERR
  trap '' TERM
  ((status == 0)) || complain user-data-failed "the boot script ended unexpectedly${crash:+ at $crash}"
  say "powering off (exit status $status)"
  shutdown -h now || poweroff --force
}

limit_lifetime() {
  shutdown -P "+$FLEET_MAX_LIFETIME" && return
  say "cannot schedule the shutdown at the maximum lifetime: waiting for it in the background"
  (sleep "$((FLEET_MAX_LIFETIME * 60))" && { shutdown -h now || poweroff --force; }) &>/dev/null &
}

# User data runs once: after a reboot there is neither a runner nor a scheduled shutdown.
end_at_reboot() {
  local script=$root/var/lib/cloud/scripts/per-boot/runner-fleet
  mkdir -p "${script%/*}" &&
    printf '#!/bin/sh\nshutdown -h now || poweroff --force\n' >"$script" &&
    chmod 755 "$script"
}
