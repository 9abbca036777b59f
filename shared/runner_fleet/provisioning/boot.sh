#!/bin/bash
# User data of an instance: become one ephemeral runner, serve one job, power off. Instances are
# launched with shutdown behaviour "terminate", so to power off is to be gone.
#
# A header of readonly variables is put in front of this text (user_data.py):
#   FLEET_URL              where the runner registers, https://github.com/owner/name
#   FLEET_TOKEN            registration token, one hour valid; empty with FLEET_JIT_CONFIG
#   FLEET_JIT_CONFIG       the runner's just-in-time configuration; may be empty
#   FLEET_LABELS           one label an instance, in launch order, separated by spaces
#   FLEET_COMMON_LABELS    labels that all instances carry, separated by commas; may be empty
#   FLEET_RUNNER_GROUP     runner group of an organization or enterprise; empty: the default one
#   FLEET_ARCHIVE_<ARCH>   "url sha256" of the runner for X64 and ARM64; may be empty
#   FLEET_HOME             home directory of the user who runs the job; empty: the first user's
#   FLEET_MAX_LIFETIME     minutes after which the instance powers off, whatever happens
#   FLEET_PRE_SCRIPT       script that runs as root before the runner registers; may be empty
# RUNNER_FLEET_ROOT is put in front of every absolute path; it is empty on an instance.

set -euo pipefail

root=${RUNNER_FLEET_ROOT:-}
metadata=http://169.254.169.254/latest

# A console that nobody reads any more must not keep the instance from its end.
trap : PIPE
say() { printf 'runner-fleet: %s\n' "$*" || true; }

fail() {
  say "error: $*"
  exit 1
}

power_off() {
  local status=$?
  set +e
  trap - EXIT
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

# again SECONDS COMMAND...: repeat a command that may fail for a while
again() {
  local deadline=$((SECONDS + $1)) pause=1
  shift
  until "$@"; do
    ((SECONDS + pause < deadline)) || return 1
    say "trying again in $pause s: $1"
    sleep "$pause"
    pause=$((pause < 16 ? pause * 2 : pause))
  done
}

ask_metadata() {
  local token ask=(curl -fsS --connect-timeout 2 --max-time 5)
  token=$("${ask[@]}" -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$metadata/api/token") &&
    ask+=(-H "X-aws-ec2-metadata-token: $token") &&
    instance_id=$("${ask[@]}" "$metadata/meta-data/instance-id") &&
    launch_index=$("${ask[@]}" "$metadata/meta-data/ami-launch-index")
}

find_instance() {
  again 60 ask_metadata || fail "the instance metadata service does not answer"
  local own
  read -r -a own <<<"$FLEET_LABELS"
  label=${own[launch_index]:-}
  [[ -n $label ]] || fail "no label for launch index $launch_index"
  labels=$label${FLEET_COMMON_LABELS:+,$FLEET_COMMON_LABELS}
}

find_user() {
  home=$FLEET_HOME
  if [[ -z $home ]]; then
    home=$(getent passwd 1000 | cut -d: -f6) || true
    [[ -n $home ]] || fail "this image has no user with id 1000: set aws_home_dir"
  fi
  [[ -d $root$home ]] || fail "home directory $home does not exist on this image: set aws_home_dir"
  user=$(stat -L -c %U "$root$home") # of what a link leads to
  [[ $user != root ]] || fail "home directory $home belongs to root: jobs run as an ordinary user"
  directory=$root$home/actions-runner
}

# as_user COMMAND...: run it as the ordinary user, with what a login shell would have set
as_user() {
  runuser -u "$user" -- env HOME="$root$home" USER="$user" LOGNAME="$user" SHELL=/bin/bash \
    PATH="$PATH" "$@"
}

run_pre_script() {
  [[ -n $FLEET_PRE_SCRIPT ]] || return 0
  say "running pre_runner_script"
  printf '%s\n' "$FLEET_PRE_SCRIPT" >"$directory/pre-runner-script.sh"
  (cd "$root$home" && HOME="$root$home" bash -e "$directory/pre-runner-script.sh") ||
    fail "pre_runner_script ended with status $?"
}

# A download may be slow, but neither stall nor take for ever.
download() {
  rm -f "$file"
  curl -fsSL --connect-timeout 10 --speed-limit 1000 --speed-time 20 --max-time 600 \
    -o "$file.part" "$url" || return 1
  mv "$file.part" "$file"
  sha256sum --check --status - <<<"$digest  $file"
}

install_runner() {
  local archive url digest file=$directory/runner.tar.gz
  case $(uname -m) in
    x86_64) archive=$FLEET_ARCHIVE_X64 ;;
    aarch64 | arm64) archive=$FLEET_ARCHIVE_ARM64 ;;
    *) archive= ;;
  esac
  [[ -n $archive ]] || fail "GitHub offers no runner for this architecture ($(uname -m))"
  read -r url digest <<<"$archive"
  say "downloading $url"
  if ! again 180 download; then
    [[ ! -e $file ]] || fail "the runner archive has a wrong digest"
    fail "cannot download the runner: the instance needs a way out to the internet (NAT or a public IP)"
  fi
  tar -xzf "$file" -C "$directory"
  rm -f "$file"
  chown -R "$user" "$directory"
  # The runner is a .NET program and needs ICU; another package manager may hold its lock at boot.
  if ! ldconfig -p 2>/dev/null | grep -q libicu; then
    say "installing the runner's dependencies"
    again 300 install_dependencies || say "could not install the dependencies"
  fi
}

# The runner's own script does not know Amazon Linux 2023 (actions/runner#2511).
install_dependencies() {
  "$directory/bin/installdependencies.sh" || dnf -y install libicu
}

register() {
  # GitHub could give a job to a runner that is about to go.
  if [[ $(systemctl is-system-running 2>&1) == stopping ]]; then
    say "not registering: the instance is shutting down"
    exit 1
  fi
  cd "$directory"
  as_user ./config.sh --unattended --ephemeral --replace --disableupdate --no-default-labels \
    --url "$FLEET_URL" --token "$FLEET_TOKEN" --name "$label-$instance_id" --labels "$labels" \
    ${FLEET_RUNNER_GROUP:+--runnergroup "$FLEET_RUNNER_GROUP"}
}

main() {
  trap power_off EXIT
  limit_lifetime
  end_at_reboot || say "cannot see to it that a reboot ends the instance"
  find_user
  mkdir -p "$directory"
  find_instance
  say "instance $instance_id is runner $label-$instance_id"
  install_runner
  run_pre_script
  if [[ -n $FLEET_JIT_CONFIG ]]; then
    cd "$directory"
    as_user ./run.sh --jitconfig "$FLEET_JIT_CONFIG" || say "the runner ended with status $?"
    return
  fi
  again 120 register || fail "the runner cannot register: the token is bad or expired, or no network"
  say "runner registered"
  as_user ./run.sh || say "the runner ended with status $?"
}

main
