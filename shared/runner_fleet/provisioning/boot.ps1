# User data of a Windows instance: what boot.sh is on Linux. Become one ephemeral runner, serve one
# job, power off. Instances are launched with shutdown behaviour "terminate", so to power off is to
# be gone.
#
# A header of values is put in front of this text (windows.py), with the names that boot.sh has for
# them. What is on the console has the form that boot.sh gives it, too; start-runner reads it.
# Comments, indentation and empty lines are taken out: EC2 takes 16 KiB, and EC2Launch no gzip.
# So no text in here may go over several lines. Written for Windows PowerShell 5.1, in ASCII.
#
# Facts that are not ours:
#   EC2Launch v1 and v2 run <powershell> once, at the first boot (EC2 user guide, "Run commands when
#   you launch an EC2 instance with user data input").
#   LocalSystem cannot start processes as another user: CreateProcessWithLogonW refuses it
#   (learn.microsoft.com, CreateProcessWithLogonW, remarks). A scheduled task can.
#   A task with a password needs the right "Log on as a batch job". Performance Log Users have it
#   (learn.microsoft.com, "Log on as a batch job", default values).
#   The runner reads arguments from ACTIONS_RUNNER_INPUT_<NAME>, too, and then takes them out of its
#   environment (actions/runner, src/Runner.Listener/CommandSettings.cs): nothing to quote for
#   cmd.exe, and no token in the list of processes.
#   The runner's key is encrypted for the machine, not for the user who configured it
#   (src/Runner.Listener/Configuration/RSAEncryptedFileKeyManager.cs).

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$metadata = 'http://169.254.169.254/latest'
$user = 'runner-fleet'
$base = if ($FLEET_HOME) { $FLEET_HOME.TrimEnd('\') } else { 'C:' }
$directory = "$base\actions-runner"
if ($FLEET_RUNNER_DIRECTORY) { $directory = $FLEET_RUNNER_DIRECTORY }
$log = "$directory\runner-fleet.log"
$ended = "$directory\runner-fleet.ended"
# What one function finds out for another
$fleet = @{ explained = $false; said = ''; shown = 0 }

# What EC2 shows as the console is what arrives at the first serial port. Another program may hold
# it; the line is in EC2Launch's log all the same.
function Write-Console([string]$line) {
  foreach ($secret in $FLEET_TOKEN, $FLEET_REMOVE_TOKEN, $FLEET_JIT_CONFIG) {
    if ($secret) { $line = $line.Replace($secret, '***') }
  }
  Write-Host $line
  try {
    $port = New-Object IO.Ports.SerialPort 'COM1', 115200
    $port.WriteTimeout = 2000
    $port.Open()
    try { $port.WriteLine($line); $port.BaseStream.Flush() } finally { $port.Dispose() }
  } catch { }
}

function Say([string]$text) { Write-Console "runner-fleet: $text" }

function Fail([string]$code, [string]$text) {
  if ((Get-PSDrive $base[0]).Free -lt 1048576) {
    $code = 'disk-full'
    $text = "no space is left on the disk: $text"
  }
  $fleet.explained = $true
  Say "error [$code]: $text"
  throw $text
}

# A shutdown that is scheduled already would refuse another (error 1190).
function Stop-Instance {
  & cmd.exe /c 'shutdown.exe /a >nul 2>&1 & shutdown.exe /s /t 0 /f'
}

# At the maximum lifetime, and at the next start: user data runs once, so after a reboot there would
# be neither a runner nor an end.
function Limit-Lifetime {
  $system = New-ScheduledTaskPrincipal -UserId 'S-1-5-18' -LogonType ServiceAccount
  $task = @{
    TaskName = 'runner-fleet-end'
    Action = New-ScheduledTaskAction -Execute 'shutdown.exe' -Argument '/s /t 0 /f'
    Trigger = @(
      (New-ScheduledTaskTrigger -Once -At (Get-Date).AddMinutes([int]$FLEET_MAX_LIFETIME)),
      (New-ScheduledTaskTrigger -AtStartup)
    )
    Principal = $system
    Settings = New-ScheduledTaskSettingsSet -StartWhenAvailable
  }
  Register-ScheduledTask @task -Force | Out-Null
}

# For this process and its programs; and for .NET, which does not look at the environment.
function Use-Proxy {
  if (-not $FLEET_PROXY) { return }
  foreach ($line in $FLEET_PROXY -split "`n") {
    $name, $value = $line -split '=', 2
    [Environment]::SetEnvironmentVariable($name, $value)
  }
  $proxy = if ($env:https_proxy) { $env:https_proxy } else { $env:http_proxy }
  if ($proxy) {
    $bypass = @('169\.254\.169\.254')
    [Net.WebRequest]::DefaultWebProxy = New-Object Net.WebProxy $proxy, $true, $bypass
  }
}

# Invoke-Again SECONDS WHAT BLOCK: repeat what may fail for a while; throws the last failure
function Invoke-Again([int]$seconds, [string]$what, [scriptblock]$block) {
  $watch = [Diagnostics.Stopwatch]::StartNew()
  $pause = 1
  while ($true) {
    try { return (& $block) } catch {
      if ($watch.Elapsed.TotalSeconds + $pause -ge $seconds) { throw }
      Say "trying again in $pause s: $what ($($_.Exception.Message))"
    }
    Start-Sleep -Seconds $pause
    $pause = [Math]::Min(2 * $pause, 16)
  }
}

function Get-Metadata([string]$path) {
  $ask = @{ 'X-aws-ec2-metadata-token-ttl-seconds' = '60' }
  $token = Invoke-RestMethod -Method Put -Uri "$metadata/api/token" -Headers $ask -TimeoutSec 5
  $ask = @{ 'X-aws-ec2-metadata-token' = $token }
  Invoke-RestMethod -Uri "$metadata/meta-data/$path" -Headers $ask -TimeoutSec 5
}

function Find-Instance {
  try {
    $instance = Invoke-Again 60 'metadata' { Get-Metadata 'instance-id' }
    $index = [int](Invoke-Again 60 'metadata' { Get-Metadata 'ami-launch-index' })
  } catch { Fail 'no-metadata' 'the instance metadata service does not answer' }
  $label = @($FLEET_LABELS -split ' ')[$index]
  if (-not $label) { Fail 'user-data-failed' "no label for launch index $index" }
  $fleet.name = if ($FLEET_JIT_CONFIG) { "$label (just in time)" } else { "$label-$instance" }
  $fleet.labels = (@($label, $FLEET_COMMON_LABELS) -ne '') -join ','
  Say "instance $instance is runner $($fleet.name)"
}

function Save-Archive([string]$url, [string]$digest, [string]$file) {
  Remove-Item -Force -ErrorAction SilentlyContinue $file
  Invoke-WebRequest -UseBasicParsing -Uri $url -OutFile "$file.part" -TimeoutSec 600
  Move-Item -Force "$file.part" $file
  $found = (Get-FileHash -Algorithm SHA256 $file).Hash
  if ($digest -and $found -ne $digest) { throw "SHA-256 is $found" }
}

function Install-Runner {
  if ($FLEET_RUNNER_DIRECTORY) { return (Use-RunnerOfImage) }
  $archive = switch ($env:PROCESSOR_ARCHITECTURE) {
    'AMD64' { $FLEET_ARCHIVE_X64 }
    'ARM64' { $FLEET_ARCHIVE_ARM64 }
  }
  if (-not $archive) {
    $code = 'no-runner-for-architecture'
    Fail $code "GitHub offers no runner for this architecture ($env:PROCESSOR_ARCHITECTURE)"
  }
  $url, $digest = $archive -split ' '
  $file = "$directory\runner.zip"
  Say "downloading $url"
  # Windows Server 2016 offers older versions only, unless told.
  [Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
  try { Invoke-Again 180 'download' { Save-Archive $url $digest $file } } catch {
    if (Test-Path $file) { Fail 'bad-digest' 'the runner archive has a wrong digest' }
    $way = 'the instance needs a way out to the internet (NAT, a public IP or a proxy)'
    Fail 'no-egress' "cannot download the runner: $way"
  }
  Add-Type -AssemblyName System.IO.Compression.FileSystem
  [IO.Compression.ZipFile]::ExtractToDirectory($file, $directory)
  Remove-Item -Force $file
}

# Registration and logs of the machine that the image was made from are not this one's.
function Use-RunnerOfImage {
  if (-not (Test-Path "$directory\config.cmd")) {
    Fail 'no-runner' "runner_directory $directory holds no runner on this image"
  }
  '_diag', '.runner', '.credentials*', 'runner-fleet.*' |
    ForEach-Object { Remove-Item -Recurse -Force -ErrorAction SilentlyContinue "$directory\$_" }
}

function Invoke-PreScript {
  if (-not $FLEET_PRE_SCRIPT) { return }
  Say 'running pre_runner_script'
  $file = "$directory\pre-runner-script.ps1"
  # With a byte order mark, without which 5.1 takes the text for the system's old code page.
  $content = "`$ErrorActionPreference = 'Stop'`n$FLEET_PRE_SCRIPT"
  [IO.File]::WriteAllText($file, $content, (New-Object Text.UTF8Encoding $true))
  $bypass = '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass'
  $status = Invoke-Program 'powershell.exe' ($bypass + @('-File', $file))
  if ($status) { Fail 'pre-script-failed' "pre_runner_script ended with status $status" }
}

# Invoke-Program FILE ARGUMENTS: show what it writes on the console, return its exit status. What a
# program writes to its standard error would count as a failure with "Stop".
function Invoke-Program([string]$program, [string[]]$arguments) {
  $ErrorActionPreference = 'Continue'
  Push-Location "$base\"
  & $program @arguments 2>&1 | ForEach-Object { Write-Console "$_"; $fleet.said += "$_`n" }
  Pop-Location
  return $LASTEXITCODE
}

# The password is known to this process and to the task scheduler only.
function New-RunnerUser {
  if ($FLEET_RUN_AS_ROOT) { return }
  try {
    $bytes = New-Object byte[] 24
    [Security.Cryptography.RandomNumberGenerator]::Create().GetBytes($bytes)
    $fleet.password = 'aA1!' + [Convert]::ToBase64String($bytes)
    $secret = ConvertTo-SecureString $fleet.password -AsPlainText -Force
    Remove-LocalUser -Name $user -ErrorAction SilentlyContinue
    New-LocalUser -Name $user -Password $secret -PasswordNeverExpires | Out-Null
    # Users and Performance Log Users, whatever Windows calls them in its language
    Add-LocalGroupMember -SID 'S-1-5-32-545' -Member $user
    Add-LocalGroupMember -SID 'S-1-5-32-559' -Member $user
    $status = Invoke-Program 'icacls.exe' @($directory, '/grant', "${user}:(OI)(CI)F", '/T', '/Q')
    if ($status) { throw "icacls ended with status $status" }
  } catch { Fail 'no-user' "cannot make the user of the job: $($_.Exception.Message)" }
}

function Register-Runner {
  $env:ACTIONS_RUNNER_INPUT_URL = $FLEET_URL
  $env:ACTIONS_RUNNER_INPUT_TOKEN = $FLEET_TOKEN
  $env:ACTIONS_RUNNER_INPUT_NAME = $fleet.name
  $env:ACTIONS_RUNNER_INPUT_LABELS = $fleet.labels
  $env:ACTIONS_RUNNER_INPUT_RUNNERGROUP = $FLEET_RUNNER_GROUP # empty: there is no such variable
  $fleet.said = ''
  $status = Invoke-Program "$directory\config.cmd" @(
    '--unattended', '--ephemeral', '--replace', '--disableupdate', '--no-default-labels'
  )
  Remove-Item Env:ACTIONS_RUNNER_INPUT_*
  if ($status) { throw "config.cmd ended with status $status" }
}

# So that nobody's job is given to a runner that is gone
function Unregister-Runner {
  Stop-ScheduledTask -TaskName 'runner-fleet'
  if (-not $FLEET_REMOVE_TOKEN) { return }
  $env:ACTIONS_RUNNER_INPUT_TOKEN = $FLEET_REMOVE_TOKEN
  $status = Invoke-Program "$directory\config.cmd" @('remove')
  if ($status) { Say 'could not remove the registration' } else { Say 'registration removed' }
}

# What config.cmd or run.cmd says: texts of actions/runner, of GitHub and of Windows
function Deny-Registration {
  $code = switch -Regex ($fleet.said) {
    'is deprecated and cannot receive' { 'runner-too-old'; break }
    'A runner exists with the same name|Already exists' { 'name-taken'; break }
    'registration has been deleted' { 'registration-removed'; break }
    'code: (NotFound|Unauthorized)|: 40[14] \(' { 'token-rejected'; break }
    'No such host|actively refused|unreachable|timed out' { 'no-egress'; break }
    default { 'registration-failed' }
  }
  Fail $code 'the runner cannot register: its own words are above'
}

# A task has priority 7 (below normal) and ends after three days, unless told.
function Start-Runner {
  $launcher = "$directory\runner-fleet.cmd"
  [IO.File]::WriteAllLines($launcher, [string[]]@(
    '@echo off',
    'cd /d "%~dp0"',
    "set ACTIONS_RUNNER_INPUT_JITCONFIG=$FLEET_JIT_CONFIG",
    "call run.cmd >`"$log`" 2>&1",
    ">`"$ended`" echo %errorlevel%"
  ))
  $forever = [TimeSpan]::Zero
  $task = @{
    TaskName = 'runner-fleet'
    Action = New-ScheduledTaskAction -Execute 'cmd.exe' -Argument "/c `"$launcher`""
    Settings = New-ScheduledTaskSettingsSet -ExecutionTimeLimit $forever -Priority 4
  }
  if ($FLEET_RUN_AS_ROOT) {
    $task.Principal = New-ScheduledTaskPrincipal -UserId 'S-1-5-18' -LogonType ServiceAccount
  } else {
    $task.User = "$env:COMPUTERNAME\$user"
    $task.Password = $fleet.password
  }
  $fleet.said = ''
  Register-ScheduledTask @task -Force | Out-Null
  Start-ScheduledTask -TaskName 'runner-fleet'
}

function Show-Log {
  $lines = @(Get-Content -ErrorAction SilentlyContinue $log)
  for (; $fleet.shown -lt $lines.Count; $fleet.shown++) { Write-Console $lines[$fleet.shown] }
  $fleet.said = $lines -join "`n"
}

# Returns when the runner has ended, or is not to wait for a job any longer.
function Wait-Runner {
  $watch = [Diagnostics.Stopwatch]::StartNew()
  $notice = $null
  $absent = 0
  while (-not (Test-Path $ended)) {
    Start-Sleep -Seconds 5
    Show-Log
    # 404 while there is none
    if ($FLEET_MARKET -like 'spot*' -and -not $notice) {
      try {
        $notice = Get-Metadata 'spot/instance-action'
        Say "spot interruption notice: $($notice.action) at $($notice.time)"
      } catch { }
    }
    $minutes = [int]$FLEET_IDLE_TIMEOUT
    $idle = $minutes -and $watch.Elapsed.TotalMinutes -ge $minutes
    # The runner writes a log for the worker of each job.
    if (($notice -or $idle) -and -not (Test-Path "$directory\_diag\Worker_*")) {
      if ($idle) { Say "no job came within $minutes minutes" }
      return (Unregister-Runner)
    }
    # The scheduler takes a moment to start a task.
    $absent++
    if ((Get-ScheduledTask -TaskName 'runner-fleet').State -eq 'Running') { $absent = 0 }
    if ($absent -gt 12) {
      $result = (Get-ScheduledTaskInfo -TaskName 'runner-fleet').LastTaskResult
      Fail 'user-data-failed' "the runner's scheduled task does not run (result $result)"
    }
  }
  Show-Log
  if ($fleet.said -notmatch 'Listening for Jobs') { Deny-Registration }
}

function Start-Fleet {
  Limit-Lifetime
  Use-Proxy
  New-Item -ItemType Directory -Force $directory | Out-Null
  Find-Instance
  Install-Runner
  if ($FLEET_PROXY) { [IO.File]::AppendAllText("$directory\.env", "$FLEET_PROXY`n") }
  Invoke-PreScript
  New-RunnerUser
  if (-not $FLEET_JIT_CONFIG) {
    try { Invoke-Again 120 'register' { Register-Runner } } catch { Deny-Registration }
    Say 'runner registered'
  }
  Start-Runner
  Wait-Runner
}

$status = 1
try {
  Start-Fleet
  $status = 0
} catch {
  if (-not $fleet.explained) {
    $place = "line $($_.InvocationInfo.ScriptLineNumber)"
    try { Fail 'user-data-failed' "$($_.Exception.Message) ($place)" } catch { }
  }
} finally {
  Say "powering off (exit status $status)"
  Stop-Instance
}
