#!/usr/bin/env bash
# './snapper setup': brings the servers that are missing, Redis by the system's package manager, Dapr's runtime from its release page.
# Asks before each step. Dapr's programs come into their place whole, checked, and both or neither.
set -euo pipefail

dapr_version=1.18.1
redis_version=6.2.0
vendor=https://github.com/dapr/dapr/releases/download
yes= offline= from= only=
releases=${SNAPPER_DAPR_RELEASES:-$vendor}

say() { echo "snapper: $*" >&2; }

wrong() {
  say "$*"
  say "see './snapper setup --help'."
  exit 2
}

usage() {
  cat <<END
Usage: ./snapper setup [options]

Brings what is missing, Redis and the Dapr runtime, asking before each step.

  --yes                  answers every question with yes, sudo too; for scripts
  --offline              fetches and changes nothing; says what to put where
  --from PATH            takes Dapr from a folder (archives with their .sha256, or programs with SHA256SUMS)
                         or from a script that fills \$DAPR_RUNTIME_PATH/.dapr/bin
  --only WHAT            redis | dapr
  --dapr-releases URL    a copy of Dapr's release page, https or loopback (also: SNAPPER_DAPR_RELEASES);
                         default $vendor
END
}

# Why nothing is taken from an address; nothing: it may be. Without TLS anybody on the way could give us programs, and their checksums.
refusal() {
  [[ $1 =~ ^([a-z]+)://([^/?#]+)[^?#]*$ ]] || { echo "must be an address such as $vendor"; return; }
  local scheme=${BASH_REMATCH[1]} authority=${BASH_REMATCH[2]}
  if [[ $authority == *@* ]]; then
    echo "must not hold a user or a password"
  elif [[ $scheme != https && ! ( $scheme == http && $authority =~ ^(localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?$ ) ]]; then
    echo "must be https, or http on this machine, not '$scheme://$authority'"
  fi
}

while [[ $# -gt 0 ]]; do
  option=${1%%=*}
  case $option in
    --yes | --offline) [[ $1 == "$option" ]] || wrong "$option takes no value." ;;
    --from | --only | --dapr-releases)
      if [[ $1 == *=* ]]; then value=${1#*=}; else value=${2:-} && shift; fi
      [[ -n $value ]] || wrong "$option needs a value."
      ;;
    --help | -h | '-?') usage; exit 0 ;;
    *) wrong "'setup' has no option '$1'." ;;
  esac
  case $option in
    --yes) yes=1 ;;
    --offline) offline=1 ;;
    --from) from=$value ;;
    --only) only=$value ;;
    --dapr-releases) releases=$value ;;
  esac
  shift
done
[[ $only =~ ^(|redis|dapr)$ ]] || wrong "--only must be redis or dapr, not '$only'."
[[ -z $offline || -z $from ]] || wrong "--offline and --from contradict each other: one only explains, the other installs."
[[ -z $from || $only != redis ]] || wrong "--from brings Dapr, and --only redis leaves it out."
why=$(refusal "$releases")
[[ -z $why ]] || wrong "--dapr-releases $why."
releases=${releases%/}

case $(uname -s)_$(uname -m) in
  Linux_x86_64) platform=linux_amd64 ;;
  Linux_aarch64) platform=linux_arm64 ;;
  Linux_armv7*) platform=linux_arm ;;
  Darwin_x86_64) platform=darwin_amd64 ;;
  Darwin_arm64) platform=darwin_arm64 ;;
  *) platform= ;;
esac

# Anything but y or yes is a no, and so is the end of the input.
agreed() {
  local answer
  if [[ -n $yes ]]; then
    say "$1 Yes, as --yes says."
    return 0
  fi
  say "$1 [y/N]"
  if ! read -r answer && [[ -z $answer ]]; then
    say "there is no answer, which is a no; --yes answers every question"
    return 1
  fi
  [[ $answer =~ ^[[:space:]]*([yY]|[yY][eE][sS])[[:space:]]*$ ]] || { say "not done"; return 1; }
}

version_in() { grep -oE '[0-9]+\.[0-9]+\.[0-9]+' <<<"$1" | head -n 1 || true; }

at_least() {
  local i a b
  IFS=. read -ra a <<<"$1"
  IFS=. read -ra b <<<"$2"
  for i in 0 1 2; do
    if ((a[i] != b[i])); then ((a[i] > b[i])); return; fi
  done
}

dapr_folder() {
  local home=${DAPR_RUNTIME_PATH:-${HOME:-}}
  [[ -z $home ]] || echo "$home/.dapr/bin"
}

# Sets $found to a program that 'up' takes, or to nothing, and says what there is. A least version is empty for one that cannot say its own.
find_program() { # SUBJECT NAME VARIABLE LEAST
  local subject=$1 name=$2 variable=$3 least=$4 candidates candidate version old=
  found=
  candidates=${!variable:-$(type -aP "$name" || true)}
  if [[ -z ${!variable:-} && $subject == Dapr && -x $(dapr_folder)/$name ]]; then candidates+=$'\n'$(dapr_folder)/$name; fi
  while IFS= read -r candidate; do
    [[ -n $candidate ]] || continue
    if [[ -z $least ]]; then
      found=$candidate
      say "$subject: $name ($candidate)"
      return
    fi
    version=$(version_in "$("$candidate" --version 2>&1 || true)")
    if [[ -n $version ]] && at_least "$version" "$least"; then
      found=$candidate
      say "$subject: $name $version ($candidate)"
      return
    fi
    old+="${old:+; }$candidate is ${version:-of a version that it does not tell}, $least or later is needed"
  done <<<"$candidates"
  say "$subject: ${old:-no $name on PATH$([[ $subject != Dapr ]] || echo ' or in ~/.dapr/bin')}"
}

setup_redis() {
  local sudo= words manager commands command
  find_program Redis redis-server SNAPPER_REDIS_SERVER $redis_version
  [[ -z $found ]] || return 0
  if [[ -n $offline ]]; then
    say "Redis: install Redis $redis_version or later from your system's packages (sudo apt-get update && sudo apt-get install -y redis-server;" \
      "sudo dnf install -y redis; brew install redis), put a redis-server on PATH, or name its file in SNAPPER_REDIS_SERVER"
    return 1
  fi
  for manager in apt-get dnf brew none; do ! command -v $manager >/dev/null || break; done
  case $manager in
    apt-get) commands=("apt-get update" "apt-get install -y redis-server") ;;
    dnf) commands=("dnf install -y redis") ;;
    brew) commands=("brew install redis") ;;
    none)
      say "Redis: none of apt-get, dnf, brew is here. Install Redis $redis_version or later, or name its redis-server in SNAPPER_REDIS_SERVER"
      return 1
      ;;
  esac
  if [[ $manager != brew && $(id -u) != 0 ]]; then
    if ! command -v sudo >/dev/null; then
      words=$(printf ' && %s' "${commands[@]}")
      say "Redis: there is no sudo; an account with the right must run: ${words# && }"
      return 1
    fi
    sudo="sudo "
  fi
  if [[ $manager == apt-get ]]; then
    say "Redis: the package also starts a Redis of its own on 127.0.0.1:6379, which 'up' does not use:" \
      "'sudo systemctl disable --now redis-server' ends it"
  fi
  words=$(printf " && $sudo%s" "${commands[@]}")
  agreed "Redis: run '${words# && }'?" || return 1
  for command in "${commands[@]}"; do
    local exit=0
    $sudo$command </dev/null || exit=$?
    if [[ $exit != 0 ]]; then
      say "Redis: '$command' ended with exit code $exit; what it wrote is above"
      return 1
    fi
  done
  hash -r
  find_program Redis redis-server SNAPPER_REDIS_SERVER $redis_version
  if [[ -z $found ]]; then
    say "Redis: installed, but not as 'up' needs it"
    return 1
  fi
}

fail() {
  say "Dapr: $*. Nothing was put in place."
  exit 1
}

# Redirects are followed by hand: each further address must be one that we may take programs from.
fetch() { # ADDRESS FILE BYTES
  local at=$1 hop answer why
  for hop in 0 1 2 3 4 5; do
    answer=$(curl -sS --proto =http,https --connect-timeout 15 --speed-limit 1 --speed-time 60 --max-filesize "$3" -o "$2" \
      -w '%{http_code} %{redirect_url}' "$at" 2>"$stage/why") || fail "$at could not be fetched: $(cat "$stage/why")"
    case $answer in
      "200 "*) return ;;
      30[12378]" "?*) at=${answer#* } ;;
      *) fail "$at answered ${answer%% *}" ;;
    esac
    why=$(refusal "$at")
    [[ -z $why ]] || fail "$1 sends us elsewhere, and that address $why"
  done
  fail "$1 sends us on and on, more than 5 times"
}

# The SHA-256 of a file in a list of sums, or the only one when the list names no file.
published() { # LIST NAME
  awk -v name="$2" '
    length($1) == 64 && $1 !~ /[^0-9a-fA-F]/ {
      file = $2; sub(/^\*/, "", file); sub(/.*\//, "", file)
      if (NF == 1 || file == name) { print tolower($1); exit }
    }' "$1"
}

sum_of() {
  if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

check() { # FILE LIST NAME WHAT
  local sum came
  sum=$(published "$2" "$3")
  [[ -n $sum ]] || fail "$4 holds no SHA-256 of $3"
  came=$(sum_of "$1")
  [[ $came == "$sum" ]] || fail "$3 is not what was published: its SHA-256 is $came, $4 says $sum"
  say "Dapr: $3 has the published SHA-256 $sum"
}

extract() { # ARCHIVE PROGRAM
  local names member
  names=$(tar -tzf "$1" 2>/dev/null) || fail "$(basename "$1") is no whole tar.gz"
  member=$(grep -xE "(\./)?$2" <<<"$names" | head -n 1) || fail "$(basename "$1") holds no $2"
  mkdir -p "$stage/archive"
  tar -xzf "$1" -C "$stage/archive" "$member" || fail "$(basename "$1") is no whole tar.gz"
  [[ -f $stage/archive/$2 && ! -L $stage/archive/$2 ]] || fail "in $(basename "$1"), $2 is no regular file"
  mv "$stage/archive/$2" "$stage/$2"
}

# Makes one program in the stage. Fails: the person does not want it.
bring() { # PROGRAM
  local archive=$1_$platform.tar.gz address exit=0
  if [[ -z $from ]]; then
    address=$releases/v$dapr_version/$archive
    [[ -n $platform ]] || fail "there is no tar.gz of $1 for this system; name your own programs in SNAPPER_DAPRD and SNAPPER_PLACEMENT"
    agreed "Dapr: fetch $address, check it against $1's published SHA-256, and install $1 $dapr_version?" || return 1
    fetch "$address.sha256" "$stage/sum" 4096
    fetch "$address" "$stage/$archive" $((512 << 20))
    check "$stage/$archive" "$stage/sum" "$archive" "$address.sha256"
    extract "$stage/$archive" "$1"
  elif [[ -d $from && -f $from/$archive ]]; then
    [[ -f $from/$archive.sha256 ]] || fail "there is no $from/$archive.sha256, so $archive cannot be checked"
    check "$from/$archive" "$from/$archive.sha256" "$archive" "$from/$archive.sha256"
    extract "$from/$archive" "$1"
  elif [[ -d $from ]]; then
    [[ -f $from/$1 ]] || fail "$from holds neither $archive nor $1"
    [[ -f $from/SHA256SUMS ]] || fail "there is no $from/SHA256SUMS, so $1 cannot be checked"
    cp "$from/$1" "$stage/$1"
    check "$stage/$1" "$from/SHA256SUMS" "$1" "$from/SHA256SUMS"
  else
    if [[ ! -d $stage/runtime ]]; then
      agreed "Dapr: run $from, with a folder of its own as DAPR_RUNTIME_PATH?" || return 1
      mkdir "$stage/runtime"
      DAPR_RUNTIME_PATH=$stage/runtime "$from" </dev/null || exit=$?
      [[ $exit == 0 ]] || fail "$from ended with exit code $exit; what it wrote is above"
    fi
    [[ -f $stage/runtime/.dapr/bin/$1 ]] || fail "$from made no .dapr/bin/$1"
    mv "$stage/runtime/.dapr/bin/$1" "$stage/$1"
    say "Dapr: $1 is from $from, which checks its own sums"
  fi
  chmod 755 "$stage/$1"
}

# That it runs, and daprd's version; placement cannot say its own.
require() { # PROGRAM
  local said exit=0 version
  said=$("$stage/$1" "$([[ $1 == daprd ]] && echo --version || echo --help)" 2>&1) || exit=$?
  [[ $exit != 126 && $exit != 127 ]] || fail "$1 is no program that runs on this machine"
  [[ $1 == daprd ]] || return 0
  version=$(version_in "$said")
  if [[ -z $from ]]; then
    [[ $version == "$dapr_version" ]] || fail "daprd says that it is ${version:-nothing that can be understood}, and $dapr_version is needed"
  else
    [[ -n $version ]] && at_least "$version" $dapr_version ||
      fail "daprd says that it is ${version:-nothing that can be understood}, and $dapr_version or later is needed"
  fi
}

# Both when daprd is missing or too old: placement does not tell its version, and an old daprd has an old one beside it.
missing_of_dapr() {
  find_program Dapr daprd SNAPPER_DAPRD $dapr_version
  local daprd=$found
  find_program Dapr placement SNAPPER_PLACEMENT ""
  if [[ -z $daprd ]]; then missing="daprd placement"; elif [[ -z $found ]]; then missing=placement; else missing=; fi
}

setup_dapr() {
  local program
  missing_of_dapr
  [[ -n $missing ]] || return 0
  folder=$(dapr_folder)
  [[ -n $folder ]] || fail "there is no home folder to put Dapr into: set DAPR_RUNTIME_PATH"
  if [[ -n $offline ]]; then
    say "Dapr: on a machine that can, fetch for each of ${missing/ / and }:"
    for program in $missing; do
      local address=$releases/v$dapr_version/${program}_$platform.tar.gz
      if [[ -n $platform ]]; then say "    $address and $address.sha256"; else say "    $program: build it from its sources"; fi
    done
    say "Dapr: put them into one folder of this machine, then './snapper setup --from FOLDER' checks the sums and puts the programs into" \
      "$folder; or put the programs there yourself, or name them in SNAPPER_DAPRD and SNAPPER_PLACEMENT"
    return 1
  fi
  if [[ -z $from ]]; then
    command -v curl >/dev/null || fail "there is no curl to fetch it with"
  elif [[ $from == *.tar.gz && -f $from ]]; then
    from=$(dirname "$from")
  elif [[ ! -d $from ]]; then
    [[ -f $from ]] || fail "--from names $from, which is neither a folder nor a file"
    [[ $(head -c 2 "$from") == '#!' ]] || fail "--from names $from, which is neither a folder, nor a tar.gz, nor a script"
    [[ $from == */* ]] || from=./$from
  fi
  mkdir -p "$folder" 2>/dev/null && [[ -w $folder ]] || fail "$folder cannot be written"
  stage=$folder/.setup
  if command -v flock >/dev/null; then
    exec 8>"$folder/.setup.lock"
    flock -n 8 || fail "another setup works in $folder"
  fi
  rm -rf "$stage"
  mkdir "$stage"
  trap 'rm -rf "$stage" "$folder/.setup.lock"' EXIT
  trap 'say "stopped; nothing half-done was left in place"; exit 1' INT TERM HUP
  for program in $missing; do
    if ! bring "$program"; then
      say "Dapr: $program was not brought, so nothing was put in place"
      return 1
    fi
    require "$program"
  done
  # All or nothing: a daprd beside another version's placement is harder to understand than none.
  for program in $missing; do mv "$stage/$program" "$folder/$program"; done
  say "Dapr: ${missing/ / and } put into $folder"
  missing_of_dapr
  [[ -z $missing ]]
}

# Dapr's part in a process of its own: what is wrong there ends that part only.
done=1
if [[ $only != dapr ]]; then setup_redis || done=; fi
if [[ $only != redis ]]; then (setup_dapr) || done=; fi
if [[ -z $done ]]; then
  say "something is still missing: see above; './snapper up' uses a stand-in for it"
  exit 1
fi
say "nothing is missing: './snapper up' starts it, './snapper doctor' checks the rest"
