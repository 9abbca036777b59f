# User data of a Windows instance: what boot.sh is on Linux. Become one ephemeral runner, serve one
# job, power off. Instances are launched with shutdown behaviour "terminate", so to power off is to
# be gone.
#
# A header of values is put in front of this text (windows.py), with the names that boot.sh knows.
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
#   environment (actions/runner, src/Runner.Listener/CommandSettings.cs). No quoting, and no token in
#   the list of processes.
#   The runner's key is encrypted for the machine, not for the user who configured it
#   (src/Runner.Listener/Configuration/RSAEncryptedFileKeyManager.cs).

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$metadata = 'http://169.254.169.254/latest'
$user = 'runner-fleet'
$base = if ($FLEET_HOME) { $FLEET_HOME.TrimEnd('\') } else { 'C:' }
$directory = "$base\actions-runner"
$log = "$directory\runner-fleet.log"
$ended = "$directory\runner-fleet.ended"
# What one function finds out for another
$fleet = @{ explained = $false; said = '' }

# What EC2 shows as the console is what arrives at the first serial port.
function Write-Console([string]$line) {
  if ($FLEET_TOKEN) { $line = $line.Replace($FLEET_TOKEN, '***') }
  Write-Host $line
  try {
    $port = New-Object IO.Ports.SerialPort 'COM1', 115200
    $port.WriteTimeout = 2000
    $port.Open()
    try { $port.WriteLine($line); $port.BaseStream.Flush() } finally { $port.Dispose() }
  } catch {
    # Another program holds the port; the line is in EC2Launch's log all the same.
  }
}

function Say([string]$text) { Write-Console "runner-fleet: $text" }

function Fail([string]$code, [string]$text) {
  $fleet.explained = $true
  Say "error [$code]: $text"
  throw $text
}

# A shutdown that is scheduled already would refuse another (error 1190).
function Stop-Instance {
  & cmd.exe /c 'shutdown.exe /a >nul 2>&1'
  & cmd.exe /c 'shutdown.exe /s /t 0 /f'
  Start-Sleep -Seconds 60
  Stop-Computer -Force
}

# At the maximum lifetime, and at the next start: user data runs once, so after a reboot there would
# be neither a runner nor an end.
function Limit-Lifetime {
  try {
    $task = @{
      TaskName = 'runner-fleet-end'
      Action = New-ScheduledTaskAction -Execute 'shutdown.exe' -Argument '/s /t 0 /f'
      Trigger = @(
        (New-ScheduledTaskTrigger -Once -At (Get-Date).AddMinutes([int]$FLEET_MAX_LIFETIME)),
        (New-ScheduledTaskTrigger -AtStartup)
      )
      Principal = New-ScheduledTaskPrincipal -UserId 'S-1-5-18' -LogonType ServiceAccount
      Settings = New-ScheduledTaskSettingsSet -AllowStartIfOnBatteries -StartWhenAvailable
    }
    Register-ScheduledTask @task -Force | Out-Null
  } catch {
    Say "cannot schedule the end as a task: $($_.Exception.Message)"
    $seconds = [Math]::Min(60 * [long]$FLEET_MAX_LIFETIME, 315360000)
    & cmd.exe /c "shutdown.exe /s /f /t $seconds"
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
    $fleet.instance = Invoke-Again 60 'metadata' { Get-Metadata 'instance-id' }
    $index = [int](Invoke-Again 60 'metadata' { Get-Metadata 'ami-launch-index' })
  } catch { Fail 'no-metadata' 'the instance metadata service does not answer' }
  $own = @($FLEET_LABELS -split ' ')
  if ($index -ge $own.Count) { Fail 'no-metadata' "no label for launch index $index" }
  $fleet.name = "$($own[$index])-$($fleet.instance)"
  $fleet.labels = $own[$index]
  if ($FLEET_COMMON_LABELS) { $fleet.labels += ",$FLEET_COMMON_LABELS" }
}

function Save-Archive([string]$url, [string]$digest, [string]$file) {
  Remove-Item -Force -ErrorAction SilentlyContinue $file
  Invoke-WebRequest -UseBasicParsing -Uri $url -OutFile "$file.part" -TimeoutSec 600
  Move-Item -Force "$file.part" $file
  $found = (Get-FileHash -Algorithm SHA256 $file).Hash
  if ($found -ne $digest) { throw "SHA-256 is $found" }
}

function Install-Runner {
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
  $tls = [Net.SecurityProtocolType]::Tls12
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor $tls
  try { Invoke-Again 180 'download' { Save-Archive $url $digest $file } } catch {
    Test-Disk $_
    if (Test-Path $file) { Fail 'bad-digest' 'the runner archive has a wrong digest' }
    $way = 'the instance needs a way out to the internet (NAT or a public IP)'
    Fail 'no-egress' "cannot download the runner: $way"
  }
  Add-Type -AssemblyName System.IO.Compression.FileSystem
  try { [IO.Compression.ZipFile]::ExtractToDirectory($file, $directory) } catch {
    Test-Disk $_
    throw
  }
  Remove-Item -Force $file
}

# ERROR_DISK_FULL, as an HRESULT
function Test-Disk($failure) {
  $cause = $failure.Exception.GetBaseException()
  if ($cause.HResult -eq -2147024784) { Fail 'disk-full' "the disk is full: $($cause.Message)" }
}

function Invoke-PreScript {
  if (-not $FLEET_PRE_SCRIPT) { return }
  Say 'running pre_runner_script'
  $file = "$directory\pre-runner-script.ps1"
  # With a byte order mark, without which 5.1 takes the text for the system's old code page.
  $text = "`$ErrorActionPreference = 'Stop'`n$FLEET_PRE_SCRIPT"
  [IO.File]::WriteAllText($file, $text, (New-Object Text.UTF8Encoding $true))
  $status = Invoke-Program 'powershell.exe' @(
    '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-File', $file
  )
  if ($status) { Fail 'pre-script-failed' "pre_runner_script ended with status $status" }
}

# Invoke-Program FILE ARGUMENTS: show what it writes on the console, return its exit status. What a
# program writes to its standard error would count as a failure with "Stop".
function Invoke-Program([string]$program, [string[]]$arguments) {
  $ErrorActionPreference = 'Continue'
  Push-Location "$base\"
  try { & $program @arguments 2>&1 | ForEach-Object { Write-Console "$_"; $fleet.said += "$_`n" } }
  finally { Pop-Location }
  return $LASTEXITCODE
}

# The password is known to this process and to the task scheduler only.
function New-RunnerUser {
  try {
    $bytes = New-Object byte[] 24
    [Security.Cryptography.RandomNumberGenerator]::Create().GetBytes($bytes)
    $fleet.password = 'aA1!' + [Convert]::ToBase64String($bytes)
    $secret = ConvertTo-SecureString $fleet.password -AsPlainText -Force
    Remove-LocalUser -Name $user -ErrorAction SilentlyContinue
    New-LocalUser -Name $user -Password $secret -PasswordNeverExpires -AccountNeverExpires | Out-Null
    # Users and Performance Log Users, whatever Windows calls them in its language
    foreach ($group in 'S-1-5-32-545', 'S-1-5-32-559') {
      Add-LocalGroupMember -SID $group -Member $user
    }
    $status = Invoke-Program 'icacls.exe' @($directory, '/grant', "${user}:(OI)(CI)F", '/T', '/Q')
    if ($status) { throw "icacls ended with status $status" }
  } catch { Fail 'no-user' "cannot make the user of the job: $($_.Exception.Message)" }
}

function Register-Runner {
  $env:ACTIONS_RUNNER_INPUT_URL = $FLEET_URL
  $env:ACTIONS_RUNNER_INPUT_TOKEN = $FLEET_TOKEN
  $env:ACTIONS_RUNNER_INPUT_NAME = $fleet.name
  $env:ACTIONS_RUNNER_INPUT_LABELS = $fleet.labels
  $fleet.said = ''
  try {
    $status = Invoke-Program "$directory\config.cmd" @(
      '--unattended', '--ephemeral', '--replace', '--disableupdate', '--no-default-labels'
    )
  } finally { Remove-Item Env:ACTIONS_RUNNER_INPUT_* }
  if ($status) { throw "config.cmd ended with status $status" }
  if (-not (Test-Path "$directory\.runner")) { throw 'config.cmd left no configuration' }
}

# A task has priority 7 (below normal) and ends after three days, unless told.
function Start-Runner {
  $launcher = "$directory\runner-fleet.cmd"
  $lines = '@echo off', 'cd /d "%~dp0"', "call run.cmd >`"$log`" 2>&1", ">`"$ended`" echo %errorlevel%"
  [IO.File]::WriteAllLines($launcher, $lines)
  $settings = @{
    AllowStartIfOnBatteries = $true
    DontStopIfGoingOnBatteries = $true
    ExecutionTimeLimit = [TimeSpan]::Zero
    Priority = 4
  }
  $task = @{
    TaskName = 'runner-fleet'
    Action = New-ScheduledTaskAction -Execute 'cmd.exe' -Argument "/c `"$launcher`""
    Settings = New-ScheduledTaskSettingsSet @settings
    User = "$env:COMPUTERNAME\$user"
    Password = $fleet.password
  }
  Register-ScheduledTask @task -Force | Out-Null
  Start-ScheduledTask -TaskName 'runner-fleet'
}

# Returns when the runner has ended. Shows what it writes.
function Wait-Runner {
  $shown = 0
  $idle = 0
  while ($true) {
    $over = Test-Path $ended
    $lines = @(Get-Content -ErrorAction SilentlyContinue $log)
    while ($shown -lt $lines.Count) { Write-Console $lines[$shown]; $shown++ }
    if ($over) { break }
    # The scheduler takes a moment to start a task, and one to notice its end.
    if ((Get-ScheduledTask -TaskName 'runner-fleet').State -eq 'Running') { $idle = 0 } else { $idle++ }
    if ($idle -gt 12) {
      $result = (Get-ScheduledTaskInfo -TaskName 'runner-fleet').LastTaskResult
      Fail 'user-data-failed' "the runner's scheduled task does not run (result $result)"
    }
    Start-Sleep -Seconds 5
  }
  $status = "$(Get-Content $ended)".Trim()
  if ($status -ne '0') { Say "the runner ended with status $status" }
}

function Start-Fleet {
  Limit-Lifetime
  New-Item -ItemType Directory -Force $directory | Out-Null
  Find-Instance
  Say "instance $($fleet.instance) is runner $($fleet.name)"
  Install-Runner
  Invoke-PreScript
  New-RunnerUser
  try { Invoke-Again 120 'register' { Register-Runner } } catch {
    Fail 'registration-failed' 'the runner cannot register: the token is bad or expired, or no network'
  }
  Say 'runner registered'
  Start-Runner
  Wait-Runner
}

$status = 1
try {
  Start-Fleet
  $status = 0
} catch {
  $place = "line $($_.InvocationInfo.ScriptLineNumber)"
  if (-not $fleet.explained) { Say "error [user-data-failed]: $($_.Exception.Message) ($place)" }
} finally {
  Say "powering off (exit status $status)"
  Stop-Instance
}
