#!/bin/bash
# User data of an instance: become one ephemeral runner, serve one job, power off. Instances are
# launched with shutdown behaviour "terminate", so to power off is to be gone.
#
# A header of readonly variables is put in front of this text, and the files it sources in place of
# the lines that do (user_data.py):
#   FLEET_URL              where the runner registers, https://github.com/owner/name
#   FLEET_TOKEN            registration token, one hour valid; empty with FLEET_JIT_CONFIG
#   FLEET_JIT_CONFIG       the runner's just-in-time configuration; may be empty
#   FLEET_REMOVE_TOKEN     token that removes the registration, one hour valid; may be empty
#   FLEET_LABELS           one label an instance, in launch order, separated by spaces
#   FLEET_COMMON_LABELS    labels that all instances carry, separated by commas; may be empty
#   FLEET_RUNNER_GROUP     runner group of an organization or enterprise; empty: the default one
#   FLEET_ARCHIVE_<ARCH>   "url sha256" of the runner for X64 and ARM64; may be empty, the digest, too
#   FLEET_OFFERED_VERSION  the newest runner that GitHub offers, 2.335.1; may be empty
#   FLEET_RUNNER_DIRECTORY where the image has its runner; empty: the runner is downloaded
#   FLEET_HOME             home directory of the user who runs the job; empty: the first user's
#   FLEET_RUN_AS_ROOT      true: root runs the job; empty: an ordinary user
#   FLEET_PROXY            http_proxy=... and the like, one a line; may be empty
#   FLEET_MARKET           spot: an interruption is announced, and looked for
#   FLEET_IDLE_TIMEOUT     minutes after which the instance powers off if no job came; 0: never
#   FLEET_MAX_LIFETIME     minutes after which the instance powers off, whatever happens
#   FLEET_PRE_SCRIPT       script that runs as root before the runner registers; may be empty
# RUNNER_FLEET_ROOT is put in front of every absolute path; it is empty on an instance.
#
# Every failure is one line "runner-fleet: error [CODE]: text" on the console; start-runner reads it.

set -Eeuo pipefail

root=${RUNNER_FLEET_ROOT:-}
metadata=http://169.254.169.254/latest

# shellcheck source=boot/end.sh
. "${BASH_SOURCE[0]%/*}/boot/end.sh"
# shellcheck source=boot/instance.sh
. "${BASH_SOURCE[0]%/*}/boot/instance.sh"
# shellcheck source=boot/install.sh
. "${BASH_SOURCE[0]%/*}/boot/install.sh"
# shellcheck source=boot/register.sh
. "${BASH_SOURCE[0]%/*}/boot/register.sh"
# shellcheck source=boot/serve.sh
. "${BASH_SOURCE[0]%/*}/boot/serve.sh"

main() {
  trap power_off EXIT
  trap shutting_down TERM
  trap 'crash=${crash:-line $LINENO: $BASH_COMMAND}' ERR
  limit_lifetime
  end_at_reboot || say "cannot see to it that a reboot ends the instance"
  use_proxy
  find_user
  find_instance
  say "instance $instance_id is runner $name"
  install_runner
  wait_for_docker
  run_pre_script
  register_runner
  serve
}

main
