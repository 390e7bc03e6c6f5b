#!/usr/bin/env bash
# A whole Slurm on this machine, to try the profile `slurm` on: one node, reached over loopback alone, without accounting, and with two
# files for GPUs, so that what asks for one finds its place, though nothing computes there. All it has lies in one folder, but for a
# link at /etc/slurm/slurm.conf, where commands find it: the plugin of Snakemake takes SLURM_CONF from the environment of its jobs.
#
#   benchmarks/slurm.sh start [FOLDER [PORT]]    installs Slurm where it is missing (Debian, as root), and starts it
#   benchmarks/slurm.sh stop [FOLDER]            ends its jobs, then Slurm itself
set -euo pipefail

action=${1:-} folder=${2:-/tmp/one-node-slurm} port=${3:-26817}
export SLURM_CONF=$folder/slurm.conf
link=/etc/slurm/slurm.conf
PATH=$PATH:/usr/sbin:/sbin

runs() { # whether a daemon of a folder is up; its number may be another process's by now
  local pid
  pid=$(cat "$2/$1.pid" 2>/dev/null) && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ]
}

end() { # end a daemon, and wait for that
  if runs "$1" "$folder"; then kill "$(cat "$folder/$1.pid")" || true; fi
  for _ in $(seq 100); do runs "$1" "$folder" || break; sleep 0.1; done
  rm -f "$folder/$1.pid"
}

stop() {
  if runs slurmctld "$folder" && scancel --me 2>/dev/null; then
    for _ in $(seq 60); do [ -n "$(squeue --noheader 2>/dev/null)" ] || break; sleep 1; done
  fi
  end slurmd
  end slurmctld
  end munged
  if [ "$(readlink "$link")" = "$SLURM_CONF" ]; then rm "$link"; fi
}

install_missing() {
  if command -v slurmctld slurmd munged >/dev/null; then return; fi
  if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "Slurm is not installed: as root, apt-get install slurm-wlm munge" >&2
    exit 1
  fi
  apt-get update -qq
  # RUNLEVEL=1: the packages start no daemons of their own
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null
}

write_settings() {
  local me host memory
  me=$(id -un) host=$(hostname -s)
  memory=$(awk '/^MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)
  mkdir -p "$folder"/{state,spool,munge}
  chmod 700 "$folder/munge"
  [ -s "$folder/munge/key" ] || mungekey --create --keyfile="$folder/munge/key"
  cat >"$SLURM_CONF" <<SETTINGS
ClusterName=one-node
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
ReturnToService=2
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$memory Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
SETTINGS
  printf "Name=gpu File=/dev/%s Flags=nvidia_gpu_env\n" null zero >"$folder/gres.conf" # of files that are no devices it names none
  if [ "$(slurmd -V | tr -dc "0-9.\n" | cut -d. -f1)" -ge 23 ]; then # these want to be told that there are no control groups
    echo "CgroupPlugin=disabled" >"$folder/cgroup.conf"
  fi
}

refuse_another() { # but what an earlier start left behind, such as after a power loss, is none
  [ -e "$link" ] || return 0
  local other
  other=$(dirname "$(readlink "$link" || echo "$link")")
  if ! grep -q "^ClusterName=one-node$" "$link"; then
    echo "there is a Slurm on this machine: $link" >&2
    exit 1
  elif runs slurmctld "$other"; then
    echo "there is such a Slurm on this machine; to end it: benchmarks/slurm.sh stop $other" >&2
    exit 1
  fi
}

start() {
  stop
  refuse_another
  install_missing
  rm -rf "$folder"/{state,spool}
  write_settings
  mkdir -p "$(dirname "$link")"
  ln -sf "$SLURM_CONF" "$link"
  munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/munge/seed" 2>/dev/null
  slurmctld -f "$SLURM_CONF" || true # what keeps one from coming up stands in its log, which is shown below
  slurmd -f "$SLURM_CONF" || true
  for _ in $(seq 60); do
    if [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; then
      echo "Slurm is up: sinfo, squeue, sbatch; what it says is in $folder"
      return
    fi
    sleep 0.5
  done
  tail -n 5 "$folder"/*.log >&2
  echo "Slurm did not come up; what it said is above and in $folder" >&2
  stop
  exit 1
}

case $action in
  start | stop) "$action" ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
