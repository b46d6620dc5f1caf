/** A new bisection, with what is known of the regression, cell or series filled in. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { Refused } from "../act/action";
import { Fields, type Values, type WantedField, valuesOf } from "../act/fields";
import { useRights } from "../act/rights";
import { useAct } from "../act/use-act";
import { api, data } from "../api/client";
import { proposalQuery } from "../api/queries";
import type { BisectionProposal } from "../api/types";
import { counted, percent } from "../format/quantity";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { Prose } from "../tables/prose";
import { Loaded } from "../ui/answers";
import {
  isNothingToSearch,
  parametersOf,
  type ProposalAsked,
  proposalAsked,
  requestOf,
} from "./request";
import "./bisect.css";

export function NewBisectionPage() {
  useTitle("New bisection");
  const [search] = useSearchParams();
  const asked = proposalAsked(search);
  return asked === null ? <Form proposal={byHand(search)} /> : <Proposed asked={asked} />;
}

function Proposed({ asked }: { asked: ProposalAsked }) {
  const query = useQuery(proposalQuery(asked));
  return <Loaded query={query}>{(proposal) => <Form proposal={proposal} />}</Loaded>;
}

/** Of a series, or of nothing that the service knows. */
function byHand(search: URLSearchParams): BisectionProposal {
  const series = search.get("series") ?? "";
  const revision = search.get("revision") ?? "";
  return {
    title: series === "" ? "Which change made a figure worse?" : `${series} ${revision}`,
    regression_id: null,
    environment: "lab",
    hosts: [],
    workload: "syscall",
    parameters: {},
    metric: "",
    mode: "spectre-bhi/off",
    series,
    revision,
    arms: "",
    changes: null,
    effect_percent: null,
    why: "Say where it is measured, and over what it goes.",
  };
}

function fieldsOf(proposal: BisectionProposal): WantedField[] {
  return [
    {
      name: "over",
      label: "Over",
      kind: "choice",
      initial: proposal.arms !== "" ? "arms" : "series",
      choices: [
        ["series", "the patches of a series' revision"],
        ["arms", "an ordered list of arms"],
      ],
    },
    { name: "series", label: "Series", initial: proposal.series, most: 200 },
    {
      name: "revision",
      label: "Revision (empty: the newest)",
      initial: proposal.revision,
      most: 60,
    },
    {
      name: "arms",
      label: "Arms (YAML), in order",
      kind: "long",
      initial: proposal.arms,
      most: 100_000,
    },
    {
      name: "hosts",
      label: "Hosts that are alike",
      initial: proposal.hosts.join(" "),
      required: true,
    },
    { name: "environment", label: "Environment", initial: proposal.environment, required: true },
    { name: "workload", label: "Workload", initial: proposal.workload, required: true },
    { name: "parameters", label: "Its case", initial: parametersOf(proposal.parameters) },
    { name: "metric", label: "Metric (empty: the primary one)", initial: proposal.metric },
    { name: "mode", label: "Mode in which kernels of a series are booted", initial: proposal.mode },
    {
      name: "boots",
      label: "Boots that it may take",
      kind: "number",
      initial: "300",
      least: 16,
      most: 10_000,
      required: true,
    },
    {
      name: "hours",
      label: "Hours that it may take",
      kind: "number",
      initial: "48",
      least: 0.1,
      most: 744,
      required: true,
    },
    {
      name: "confidence",
      label: "How sure it must be",
      kind: "number",
      initial: "0.95",
      least: 0.5,
      most: 0.9999,
      required: true,
    },
    {
      name: "minimum",
      label: "Ends must differ by (percent)",
      kind: "number",
      initial: "0.5",
      least: 0.01,
      most: 1000,
      required: true,
    },
  ];
}

function Form({ proposal }: { proposal: BisectionProposal }) {
  const fields = fieldsOf(proposal);
  const [values, setValues] = useState<Values>(() => valuesOf(fields));
  const { may } = useRights();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const starting = useAct({
    run: (wanted: Values) =>
      data(api.POST("/api/bisections", { body: requestOf(wanted, proposal.regression_id) })),
    done: (begun) => {
      void queries.invalidateQueries({ queryKey: ["bisections"] });
      void queries.invalidateQueries({ queryKey: ["regression"] });
      go(`/bisections/${begun.id}`);
    },
  });
  const left = values.over === "arms" ? ["series", "revision", "mode"] : ["arms"];
  const [over, where, limits] = [
    fields.slice(0, 4).filter(({ name }) => !left.includes(name)),
    fields.slice(4, 10).filter(({ name }) => !left.includes(name)),
    fields.slice(10),
  ];
  const change = (name: string, value: string) => {
    setValues((before) => ({ ...before, [name]: value }));
  };
  return (
    <>
      <Head
        title="New bisection"
        tabs={<PlaceTabs of="regressions" here="bisections" />}
        lede={
          <>
            {proposal.title}
            {proposal.effect_percent !== null && `, ${percent(proposal.effect_percent)}`}
          </>
        }
      />
      <p className="notice" role="status">
        <Prose text={proposal.why} />
      </p>
      <form
        className="new-bisection"
        onSubmit={(event) => {
          event.preventDefault();
          starting.act(values);
        }}
      >
        {(
          [
            ["Over what", over],
            ["Where and what", where],
            ["How far", limits],
          ] as const
        ).map(([title, own]) => (
          <fieldset className="panel inside" key={title}>
            <legend>{title}</legend>
            <Fields fields={own} values={values} change={change} />
          </fieldset>
        ))}
        <div className="panel inside will">
          <p hidden={isNothingToSearch(values, proposal)}>
            Both ends are confirmed first, and it stops where they do not differ. Then up to{" "}
            {values.boots} boots are made on {values.hosts === "" ? "the hosts" : values.hosts}
            {proposal.changes !== null && ` among ${counted(proposal.changes, "candidate")}`};
            kernels of a series are built on the way. A culprit is verified against its parent
            before it is named.
            {proposal.regression_id !== null &&
              ` Regression ${proposal.regression_id} will show the bisection.`}
          </p>
          <Refused error={starting.error} />
          {isNothingToSearch(values, proposal) ? (
            <p className="soft">
              One change alone can be it, so there is nothing to search. Name more above to start.
            </p>
          ) : may("submit") ? (
            <p className="buttons">
              <button type="submit" className="button main" disabled={starting.begun}>
                Start the bisection
              </button>
            </p>
          ) : (
            <p className="soft">Starting one needs the role submitter, or one that may do more.</p>
          )}
        </div>
      </form>
    </>
  );
}
