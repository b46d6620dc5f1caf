#!/usr/bin/env bash
# Ends every job of a self-hosted runner that is not one of ours. The runner starts it before
# each job (ACTIONS_RUNNER_HOOK_JOB_STARTED), from a copy that no job can write: a pull request
# can change every workflow of its own branch, and so can ask for this runner.
#
# MITIGAUGE_RUNNER_REPOSITORY (OWNER/NAME) is set where the runner is installed, and
# MITIGAUGE_RUNNER_WORKFLOWS: files below .github/workflows with blanks between, else lab.yml.
set -euo pipefail

allowed=${MITIGAUGE_RUNNER_REPOSITORY:-}
event=${GITHUB_EVENT_NAME:-}
workflow=${GITHUB_WORKFLOW_REF:-}

refuse() {
  printf 'runner-guard: refused: %s\n' "$*" >&2
  exit 1
}

[[ -n $allowed ]] || refuse "MITIGAUGE_RUNNER_REPOSITORY is not set for this runner"
[[ ${GITHUB_REPOSITORY:-} == "$allowed" ]] || refuse "another repository than $allowed"
case $event in
  # Only who may write to the repository causes these.
  push | workflow_dispatch | schedule | repository_dispatch) ;;
  *) refuse "event '$event', which a stranger may cause" ;;
esac
[[ ${GITHUB_REF:-} == refs/heads/main ]] || refuse "ref '${GITHUB_REF:-}', not refs/heads/main"
for file in ${MITIGAUGE_RUNNER_WORKFLOWS:-lab.yml}; do
  [[ $workflow != "$allowed/.github/workflows/$file@refs/heads/main" ]] || exit 0
done
refuse "workflow '$workflow'"
