# What this instance is, and who runs the job on it.

readonly hopeless=9 # exit status of a command that need not be repeated

# again SECONDS COMMAND...: repeat a command that may fail for a while
again() {
  local deadline=$((SECONDS + $1)) pause=1 status
  shift
  while :; do
    status=0
    "$@" || status=$?
    ((status != 0)) || return 0
    ((status != hopeless && SECONDS + pause < deadline)) || return 1
    say "trying again in $pause s: $1"
    sleep "$pause"
    pause=$((pause < 16 ? pause * 2 : pause))
  done
}

use_proxy() {
  local line
  [[ -n $FLEET_PROXY ]] || return 0
  while IFS= read -r line; do
    export "${line?}"
  done <<<"$FLEET_PROXY"
}

# ask PATH [CURL OPTION...]: the metadata service
ask() {
  curl -sS --connect-timeout 2 --max-time 5 "${@:2}" "$metadata/$1"
}

metadata_token() {
  ask api/token -f -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 21600'
}

ask_metadata() {
  local token
  token=$(metadata_token) &&
    instance_id=$(ask meta-data/instance-id -f -H "X-aws-ec2-metadata-token: $token") &&
    launch_index=$(ask meta-data/ami-launch-index -f -H "X-aws-ec2-metadata-token: $token")
}

find_instance() {
  again 60 ask_metadata || fail no-metadata "the instance metadata service does not answer"
  local own
  read -r -a own <<<"$FLEET_LABELS"
  label=${own[launch_index]:-}
  [[ -n $label ]] || fail user-data-failed "no label for launch index $launch_index"
  labels=$label${FLEET_COMMON_LABELS:+,$FLEET_COMMON_LABELS}
  name=$label-$instance_id
  [[ -z $FLEET_JIT_CONFIG ]] || name="$label (just in time)"
}

find_user() {
  home=$FLEET_HOME
  if [[ -z $home && -n $FLEET_RUN_AS_ROOT ]]; then
    home=/root
  elif [[ -z $home ]]; then
    home=$(getent passwd 1000 | cut -d: -f6) || true
    [[ -n $home ]] || fail no-user "this image has no user with id 1000"
  fi
  [[ -d $root$home ]] ||
    fail no-home "home directory $home does not exist on this image"
  user=$(stat -L -c %U "$root$home") # of what a link leads to
  [[ -z $FLEET_RUN_AS_ROOT ]] || user=root
  [[ $user != UNKNOWN ]] || fail no-user "home directory $home belongs to nobody this image knows"
  [[ $user != root || -n $FLEET_RUN_AS_ROOT ]] ||
    fail no-user "home directory $home belongs to root: jobs run as an ordinary user"
  directory=$root${FLEET_RUNNER_DIRECTORY:-$home/actions-runner}
}

# as_user COMMAND...: run it as the user of the job, with what a login shell would have set
as_user() {
  local become=(runuser -u "$user" -- env)
  [[ $user != root ]] || become=(env RUNNER_ALLOW_RUNASROOT=1)
  "${become[@]}" HOME="$root$home" USER="$user" LOGNAME="$user" SHELL=/bin/bash \
    LANG="${LANG:-C.UTF-8}" PATH="$PATH" "$@"
}

docker_answers() {
  timeout 10 docker info &>/dev/null
}

# At boot nothing orders Docker before user data; a job that needs it must not come too early.
wait_for_docker() {
  systemctl is-enabled docker &>/dev/null || return 0
  again 60 docker_answers || say "docker does not answer: going on without it"
}

run_pre_script() {
  [[ -n $FLEET_PRE_SCRIPT ]] || return 0
  say "running pre_runner_script"
  printf '%s\n' "$FLEET_PRE_SCRIPT" >"$directory/pre-runner-script.sh"
  (cd "$root$home" && HOME="$root$home" bash -e "$directory/pre-runner-script.sh") ||
    fail pre-script-failed "pre_runner_script ended with status $?"
}
