# The runner's program: downloaded, or of the image; and the libraries it needs.

install_runner() {
  if [[ -n $FLEET_RUNNER_DIRECTORY ]]; then
    take_runner_of_image
  else
    fetch_runner
  fi
  [[ -z $FLEET_PROXY ]] || printf '%s\n' "$FLEET_PROXY" >>"$directory/.env"
  chown -R "$user" "$directory"
  # The runner is a .NET program and needs ICU.
  if ! ldconfig -p 2>/dev/null | grep -q libicu; then
    say "installing the runner's dependencies"
    again 300 install_dependencies || say "could not install the dependencies"
  fi
  [[ -z $FLEET_RUNNER_DIRECTORY ]] || compare_versions
}

take_runner_of_image() {
  [[ -x $directory/config.sh && -x $directory/run.sh ]] ||
    fail no-runner "runner_directory $FLEET_RUNNER_DIRECTORY holds no runner on this image"
  # Registration and logs of the machine that the image was made from are not this one's.
  rm -rf "$directory"/{_diag,.runner,.credentials,.credentials_rsaparams}
}

fetch_runner() {
  local archive url digest file=$directory/runner.tar.gz curl_status=0 http_code= spoilt=0
  mkdir -p "$directory"
  case $(uname -m) in
    x86_64) archive=$FLEET_ARCHIVE_X64 ;;
    aarch64 | arm64) archive=$FLEET_ARCHIVE_ARM64 ;;
    *) archive= ;;
  esac
  [[ -n $archive ]] ||
    fail no-runner-for-architecture "GitHub offers no runner for this architecture ($(uname -m))"
  read -r url digest <<<"$archive"
  say "downloading $url"
  again 180 download || not_downloaded
  tar -xzf "$file" -C "$directory"
  rm -f "$file"
}

# A download may be slow, but neither stall nor take for ever.
download() {
  rm -f "$file"
  curl_status=0
  http_code=$(curl -fsSL --connect-timeout 10 --speed-limit 1000 --speed-time 20 --max-time 600 \
    -w '%{http_code}' -o "$file.part" "$url") || curl_status=$?
  [[ $http_code != 404 ]] || return "$hopeless"
  ((curl_status == 0)) || return 1
  mv "$file.part" "$file"
  [[ -n $digest ]] || return 0
  local found
  found=$(sha256sum <"$file")
  found=${found%% *}
  [[ $found != "${digest,,}" ]] || return 0
  say "the runner archive has the digest $found instead of $digest"
  ((++spoilt < 2)) || return "$hopeless"
  return 1
}

# https://curl.se/docs/manpage.html, exit codes
not_downloaded() {
  local why
  [[ ! -e $file ]] || fail bad-digest "the runner archive has a wrong digest"
  [[ $http_code != 404 ]] || fail no-runner "there is no runner at $url"
  case $curl_status in
    5) why="the name of the proxy does not resolve" ;;
    6) why="DNS does not resolve the name" ;;
    7) why="no connection" ;;
    22) why="HTTP status $http_code" ;;
    23) why="it could not be written" ;;
    28) why="no answer in time" ;;
    35 | 51 | 60) why="TLS failed" ;;
    *) why="curl ended with status $curl_status" ;;
  esac
  fail no-egress "cannot download the runner ($why): the instance needs a way out to the internet (NAT, a public IP or a proxy)"
}

# At boot another package manager often works: apt waits for dpkg's lock, `again` for all others.
# The runner's own script does not know Amazon Linux 2023 (actions/runner#2511).
install_dependencies() {
  local output
  locked=
  printf 'DPkg::Lock::Timeout "120";\n' >"$directory/apt.conf"
  output=$(
    export APT_CONFIG=$directory/apt.conf DEBIAN_FRONTEND=noninteractive
    { "$directory/bin/installdependencies.sh" || dnf -y install libicu; } 2>&1
  ) && return
  printf '%s\n' "$output" || true
  [[ ! $output =~ (ould not get lock|nable to acquire|nable to lock|aiting for cache lock) ]] ||
    locked=1
  return 1
}

# compare_versions: GitHub refuses a runner that does not update itself 30 days after a newer one
# (docs.github.com, self-hosted runners, "Runner software updates on self-hosted runners").
compare_versions() {
  local version oldest
  version=$(as_user "$directory/bin/Runner.Listener" --version) || version=
  if [[ ! $version =~ ^[0-9]+(\.[0-9]+)+$ ]]; then
    say "warning: cannot tell the version of the runner in $FLEET_RUNNER_DIRECTORY"
    return
  fi
  oldest=$(printf '%s\n' "$version" "$FLEET_OFFERED_VERSION" | sort -V | sed -n 1p)
  if [[ $oldest == "$version" && $version != "$FLEET_OFFERED_VERSION" ]]; then
    say "warning: the runner in $FLEET_RUNNER_DIRECTORY is $version and GitHub offers $FLEET_OFFERED_VERSION: 30 days after a newer release GitHub refuses a runner"
  fi
}
