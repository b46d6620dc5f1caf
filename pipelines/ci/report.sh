# For the scripts beside it: what stands at the end of a job.

# The control machine's own command.
MITIGAUGE=${MITIGAUGE:-mitigauge}

# concluded EXPERIMENT: follows it, writes its report; the exit code says what the verdicts do.
concluded() {
  local experiment=$1 status=0
  "$MITIGAUGE" experiment wait --by-verdict "$experiment" || status=$?
  mkdir -p ci-report
  "$MITIGAUGE" experiment report "$experiment" --format markdown >ci-report/report.md
  "$MITIGAUGE" experiment report "$experiment" --format json >ci-report/report.json
  [[ -z ${GITHUB_STEP_SUMMARY:-} ]] || cat ci-report/report.md >>"$GITHUB_STEP_SUMMARY"
  return "$status"
}
