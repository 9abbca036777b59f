# The runner's registration, and why there is none.

register_runner() {
  cd "$directory"
  if [[ -n $FLEET_JIT_CONFIG ]]; then
    may_register
    say "runner was registered just in time"
  else
    local cause=registration-failed rejections=0
    again 120 register || not_registered "$cause"
    say "runner registered"
  fi
  registered=1
}

# GitHub could give a job to a runner that is about to go.
may_register() {
  [[ $(systemctl is-system-running 2>&1) != stopping ]] ||
    fail shutting-down "not registering: the instance is shutting down"
  ! interrupted || fail shutting-down "not registering: the spot instance is interrupted"
}

register() {
  local output status=0
  may_register
  # Of a try that failed half-way: config.sh refuses a runner that is configured.
  rm -f .runner .credentials .credentials_rsaparams
  output=$(as_user ./config.sh --unattended --ephemeral --replace --disableupdate \
    --no-default-labels --url "$FLEET_URL" --token "$FLEET_TOKEN" --name "$name" \
    --labels "$labels" ${FLEET_RUNNER_GROUP:+--runnergroup "$FLEET_RUNNER_GROUP"} 2>&1) || status=$?
  without_secrets "$output"
  ((status != 0)) || return 0
  cause=$(cause_of "$output")
  case $cause in
    token-rejected) ((++rejections < 3)) || return "$hopeless" ;;
    no-egress | registration-failed) ;;
    *) return "$hopeless" ;;
  esac
  return 1
}

# cause_of OUTPUT: the code for what config.sh or run.sh says. The texts are of actions/runner:
# src/Misc/layoutroot/config.sh, src/Runner.Listener/Configuration/ConfigurationManager.cs; "is
# deprecated" is GitHub's, those about the network are .NET's.
cause_of() {
  case $1 in
    *'No space left on device'*) echo disk-full ;;
    *'ependencies is missing'* | *'valid ICU package'* | *'loading shared libraries'*)
      if [[ -n ${locked-} ]]; then echo package-lock; else echo missing-library; fi
      ;;
    *'xec format error'*) echo no-runner-for-architecture ;;
    *'is deprecated and cannot receive messages'*) echo runner-too-old ;;
    *'A runner exists with the same name '* | *'Already exists'*) echo name-taken ;;
    *'registration has been deleted'*) echo registration-removed ;;
    *'Http response code: NotFound'* | *'Http response code: Unauthorized'* | \
      *': 404 ('* | *': 401 ('*)
      echo token-rejected
      ;;
    *'Name or service not known'* | *'Temporary failure in name resolution'* | \
      *'Resource temporarily unavailable'* | *'Connection refused'* | *'unreachable'* | \
      *'No route to host'* | *'timed out'* | *'proxy tunnel'*)
      echo no-egress
      ;;
    *) echo registration-failed ;;
  esac
}

# not_registered CAUSE
not_registered() {
  case $1 in
    disk-full) fail disk-full "no space is left on the disk: the runner cannot register" ;;
    missing-library) fail missing-library "the image lacks a library that the runner needs" ;;
    package-lock) fail package-lock "another package manager kept its lock: the runner's libraries are missing" ;;
    no-runner-for-architecture) fail no-runner-for-architecture "the runner is of another architecture than the instance ($(uname -m))" ;;
    runner-too-old) fail runner-too-old "GitHub refuses this version of the runner as too old" ;;
    name-taken) fail name-taken "there is a runner of this name already ($name)" ;;
    token-rejected) fail token-rejected "GitHub does not accept the token: it is expired or of another place" ;;
    registration-removed) fail registration-removed "GitHub removed the registration: it was used, or waited for too long" ;;
    no-egress) fail no-egress "the runner cannot reach $FLEET_URL" ;;
    *) fail registration-failed "the runner cannot register: its own words are above" ;;
  esac
}

# deregister: so that nobody's job is given to a runner that is gone
deregister() {
  local output status=0
  [[ -n $FLEET_REMOVE_TOKEN && -e .runner ]] || return 0
  output=$(as_user ./config.sh remove --token "$FLEET_REMOVE_TOKEN" 2>&1) || status=$?
  without_secrets "$output"
  if ((status == 0)); then
    say "registration removed"
  else
    say "could not remove the registration"
  fi
}
