#!/bin/bash
# User data of an instance: become one ephemeral runner, serve one job, power off. Instances are
# launched with shutdown behaviour "terminate", so to power off is to be gone.
#
# A header of readonly variables is put in front of this text (user_data.py):
#   FLEET_URL              where the runner registers, https://github.com/owner/name
#   FLEET_TOKEN            registration token, one hour valid
#   FLEET_LABELS           one label an instance, in launch order, separated by spaces
#   FLEET_COMMON_LABELS    labels that all instances carry, separated by commas; may be empty
#   FLEET_ARCHIVE_<ARCH>   "url sha256" of the runner for X64 and ARM64; may be empty
#   FLEET_HOME             home directory of the user who runs the job; empty: the first user's
#   FLEET_MAX_LIFETIME     minutes after which the instance powers off, whatever happens
#   FLEET_PRE_SCRIPT       script that runs as root before the runner registers; may be empty
# RUNNER_FLEET_ROOT is put in front of every absolute path; it is empty on an instance.

set -euo pipefail

root=${RUNNER_FLEET_ROOT:-}
metadata=http://169.254.169.254/latest

say() { printf 'runner-fleet: %s\n' "$*"; }

fail() {
  say "error: $*"
  exit 1
}

power_off() {
  local status=$?
  trap - EXIT
  say "powering off (exit status $status)"
  sync
  shutdown -h now || poweroff --force
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

metadata_token() {
  imds_token=$(curl -fsS --connect-timeout 2 -X PUT \
    -H 'X-aws-ec2-metadata-token-ttl-seconds: 600' "$metadata/api/token")
}

metadata_value() {
  curl -fsS --connect-timeout 2 -H "X-aws-ec2-metadata-token: $imds_token" \
    "$metadata/meta-data/$1"
}

find_instance() {
  again 60 metadata_token || fail "the instance metadata service does not answer"
  instance_id=$(metadata_value instance-id)
  local index own
  index=$(metadata_value ami-launch-index)
  read -r -a own <<<"$FLEET_LABELS"
  label=${own[index]:-}
  [[ -n $label ]] || fail "no label for launch index $index"
  labels=$label${FLEET_COMMON_LABELS:+,$FLEET_COMMON_LABELS}
}

find_user() {
  home=$FLEET_HOME
  if [[ -z $home ]]; then
    home=$(getent passwd 1000 | cut -d: -f6) || true
    [[ -n $home ]] || fail "this image has no user with id 1000: set aws_home_dir"
  fi
  [[ -d $root$home ]] || fail "home directory $home does not exist on this image: set aws_home_dir"
  user=$(stat -c %U "$root$home")
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
  (cd "$root$home" && HOME="$root$home" bash "$directory/pre-runner-script.sh") ||
    fail "pre_runner_script ended with status $?"
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
  again 180 curl -fsSL --connect-timeout 10 -o "$file" "$url" ||
    fail "cannot download the runner: the instance needs a way out to the internet (NAT or a public IP)"
  sha256sum --check --status - <<<"$digest  $file" || fail "the runner archive has a wrong digest"
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
  cd "$directory"
  as_user ./config.sh --unattended --ephemeral --replace --disableupdate --no-default-labels \
    --url "$FLEET_URL" --token "$FLEET_TOKEN" --name "$label-$instance_id" --labels "$labels"
}

main() {
  trap power_off EXIT
  shutdown -P "+$FLEET_MAX_LIFETIME" || say "cannot schedule the shutdown at the maximum lifetime"
  find_user
  mkdir -p "$directory"
  find_instance
  say "instance $instance_id is runner $label-$instance_id"
  install_runner
  run_pre_script
  again 120 register || fail "the runner cannot register: the token is bad or expired, or no network"
  say "runner registered"
  as_user ./run.sh || say "the runner ended with status $?"
}

main
