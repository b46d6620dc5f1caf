/** The API's shapes under the names the pages use. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Arm = Schemas["ArmView"];
export type Attempt = Schemas["AttemptView"];
export type Boot = Schemas["BootView"];
export type BootPoint = Schemas["BootPoint"];
export type BootState = Schemas["BootState"];
export type Case = Schemas["CaseView"];
export type EarlierVerdict = Schemas["EarlierVerdict"];
export type Cell = Schemas["CellView"];
export type Claim = Schemas["ClaimView"];
export type ClaimOutcome = Schemas["ClaimOutcome"];
export type ArmProfiles = Schemas["ArmProfilesView"];
export type ProfileGroup = Schemas["ProfileGroupView"];
export type CaseProfiles = Schemas["CaseProfilesView"];
export type Counters = Schemas["CountersView"];
export type CounterCell = Schemas["CounterCell"];
export type CounterClaim = Schemas["CounterClaim"];
export type CounterRow = Schemas["CounterRow"];
export type CounterTable = Schemas["CounterTable"];
export type Functions = Schemas["FunctionsView"];
export type FunctionCost = Schemas["FunctionCost"];
export type FunctionOverArms = Schemas["FunctionOverArms"];
export type Loss = Schemas["LossView"];
export type LossBlock = Schemas["LossBlock"];
export type LossCell = Schemas["LossCell"];
export type LossClaim = Schemas["LossClaim"];
export type LossTable = Schemas["LossTable"];
export type Noise = Schemas["NoiseView"];
export type ClaimSource = Schemas["ClaimSourceView"];
export type ComparisonHead = Schemas["ComparisonHead"];
/** A comparison with the rows of its matrix. */
export type Comparison = Schemas["ComparisonView"];
export type Recorded = Schemas["Recorded"];
export type Experiment = Schemas["ExperimentHead"];
/** An experiment with the rows of its matrices, as its JSON file has it. */
export type WholeExperiment = Schemas["ExperimentView"];
export type Matrices = Schemas["MatrixView"];
export type ExperimentState = Schemas["ExperimentState"];
export type ExperimentSummary = Schemas["ExperimentSummary"];
export type Fingerprint = Schemas["FingerprintView"];
export type Host = Schemas["HostView"];
export type HostTime = Schemas["HostTimeView"];
export type HostSummary = Schemas["HostSummary"];
export type LogEvent = Schemas["EventView"];
export type Problem = Schemas["ProblemView"];
export type Progress = Schemas["ProgressView"];
export type Result = Schemas["ResultView"];
export type Row = Schemas["RowView"];
export type Run = Schemas["RunView"];
export type LinePoint = Schemas["LinePoint"];
export type LineRow = Schemas["LineRow"];
export type PatchChange = Schemas["PatchChange"];
export type Revision = Schemas["RevisionView"];
export type RevisionState = Schemas["RevisionState"];
export type Series = Schemas["SeriesView"];
export type SeriesHead = Schemas["SeriesHead"];
export type SeriesLine = Schemas["SeriesLine"];
export type Session = Schemas["SessionView"];
export type Verdict = Schemas["Verdict"];
