/** The API's shapes under the names the pages use. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Arm = Schemas["ArmView"];
export type Attempt = Schemas["AttemptView"];
export type Boot = Schemas["BootView"];
export type BootPoint = Schemas["BootPoint"];
export type BootState = Schemas["BootState"];
export type Case = Schemas["CaseView"];
export type Cell = Schemas["CellView"];
export type Claim = Schemas["ClaimView"];
export type ClaimOutcome = Schemas["ClaimOutcome"];
export type ArmProfiles = Schemas["ArmProfilesView"];
export type ProfileGroup = Schemas["ProfileGroupView"];
export type CaseProfiles = Schemas["CaseProfilesView"];
export type Noise = Schemas["NoiseView"];
export type ClaimSource = Schemas["ClaimSourceView"];
export type Comparison = Schemas["ComparisonView"];
export type Experiment = Schemas["ExperimentView"];
export type ExperimentState = Schemas["ExperimentState"];
export type ExperimentSummary = Schemas["ExperimentSummary"];
export type Fingerprint = Schemas["FingerprintView"];
export type Host = Schemas["HostView"];
export type HostSummary = Schemas["HostSummary"];
export type LogEvent = Schemas["EventView"];
export type Problem = Schemas["ProblemView"];
export type Progress = Schemas["ProgressView"];
export type Result = Schemas["ResultView"];
export type Row = Schemas["RowView"];
export type Run = Schemas["RunView"];
export type Session = Schemas["SessionView"];
export type Verdict = Schemas["Verdict"];
