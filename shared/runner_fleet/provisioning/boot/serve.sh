# Serving: one job, or none in time, or an interruption.

# job_came: actions/runner writes a log for the worker of each job, _diag/Worker_<time>-utc.log
# (src/Runner.Common/HostTraceListener.cs), and before that the listener notes the job in its own
# (src/Runner.Listener/Runner.cs, JobDispatcher.cs).
job_came() {
  compgen -G "$directory/_diag/Worker_*" >/dev/null ||
    grep -qs -e 'eceived job message' -e 'Running job: ' "$directory"/_diag/Runner_*
}

# stop_runner: as Ctrl-C does, but for runuser, which would kill the runner after two seconds. A
# job then fails at once, and says that the runner was told to stop.
stop_runner() {
  as_user kill "-${1:-INT}" -- "-$runner" || true
}

# The watchers tell the boot script by signals.
watch_idleness() {
  sleep "$((FLEET_IDLE_TIMEOUT * 60))" && kill -USR1 $$ && sleep 60 && kill -USR1 $$
}

watch_lifetime() {
  local left=$((FLEET_MAX_LIFETIME * 60 - SECONDS - 60))
  ((left > 0)) && sleep "$left" || return
  trap : PIPE
  say "max_lifetime_minutes are over in a minute: stopping the runner"
  kill -USR2 $$
}

# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html: look
# every five seconds.
watch_spot() {
  trap : PIPE
  while sleep 5; do
    if interrupted; then
      kill -USR2 $$
      return
    fi
  done
}

# interrupted: whether this is a spot instance and there is a notice, which is told; 404 while there
# is none
interrupted() {
  local answer
  [[ $FLEET_MARKET == spot* ]] || return 1
  [[ -n ${spot_token-} ]] || spot_token=$(metadata_token) || return 1
  answer=$(ask meta-data/spot/instance-action -w ' %{http_code}' \
    -H "X-aws-ec2-metadata-token: $spot_token") || return 1
  case ${answer##* } in
    200) say "spot interruption notice: $(in_json action "$answer") at $(in_json time "$answer")" ;;
    401) spot_token='' && return 1 ;;
    *) return 1 ;;
  esac
}

# in_json NAME TEXT
in_json() {
  if [[ $2 =~ \"$1\":\ *\"([^\"]*)\" ]]; then
    echo "${BASH_REMATCH[1]}"
  else
    echo "unknown $1"
  fi
}

on_idleness() {
  if job_came; then
    : # served to its end
  elif [[ -z $stopped ]]; then
    stopped=idle
    stop_runner
  else
    stop_runner KILL
  fi
}

on_notice() {
  stopped=${stopped:-notice}
  stop_runner
}

serve() {
  local command=(./run.sh) status=0 watchers=() stopped=
  [[ -z $FLEET_JIT_CONFIG ]] || command+=(--jitconfig "$FLEET_JIT_CONFIG")
  trap on_idleness USR1
  trap on_notice USR2
  # A process group of its own, in which SIGINT is not ignored as in bash's other background.
  set -m
  as_user env ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE=1 "${command[@]}" &
  runner=$!
  set +m
  watch_lifetime &
  watchers+=($!)
  if ((FLEET_IDLE_TIMEOUT > 0)); then
    watch_idleness &
    watchers+=($!)
  fi
  if [[ $FLEET_MARKET == spot* ]]; then
    watch_spot &
    watchers+=($!)
  fi
  until wait "$runner"; do # a signal ends the wait, too
    status=$?
    kill -0 "$runner" 2>/dev/null || break
  done
  trap '' USR1 USR2
  kill "${watchers[@]}" 2>/dev/null || true
  job_came || no_job "$status"
}

# no_job STATUS: the runner ended before it had one
no_job() {
  local logs
  case $stopped in
    idle) say "no job came within $FLEET_IDLE_TIMEOUT minutes" ;;
    notice) say "no job had come" ;;
    *)
      logs=$(cat "$directory"/_diag/Runner_* 2>/dev/null) || true
      [[ $1 != 7 ]] || not_registered runner-too-old
      [[ $logs == *'Listening for Jobs'* ]] || not_registered "$(cause_of "$logs")"
      say "the runner ended without a job (status $1)"
      ;;
  esac
  deregister
}
