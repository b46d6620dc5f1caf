/** The API's reference, from the service's own description. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useSearchParams } from "wouter";
import { ApiError } from "../api/client";
import { counted } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Head, useTitle } from "../ui/page";
import {
  type ApiDocument,
  curl,
  found,
  namesIn,
  type Parameter,
  type Route,
  routesOf,
  type Schema,
  typeOf,
} from "./document";
import "./reference.css";

const documentQuery = () =>
  queryOptions({
    queryKey: ["openapi"],
    queryFn: async ({ signal }) => {
      const answer = await fetch("/api/v1/openapi.json", { signal });
      if (!answer.ok) throw new ApiError(answer.status, "The description did not come.", "");
      return (await answer.json()) as ApiDocument;
    },
    staleTime: Infinity,
  });

export function ReferencePage() {
  useTitle("API reference");
  const query = useQuery(documentQuery());
  return <Loaded query={query}>{(document) => <Reference document={document} />}</Loaded>;
}

function Reference({ document }: { document: ApiDocument }) {
  const [search, setSearch] = useSearchParams();
  const text = search.get("find") ?? "";
  const routes = useMemo(() => routesOf(document), [document]);
  const shown = found(routes, text);
  const tags = [...new Set(shown.map((route) => route.tag))];
  return (
    <>
      <Head
        title="API reference"
        lede={`Version ${document.info.version}: ${counted(routes.length, "route")} under /api/v1/, which stay as they are described here.`}
      >
        <a className="button" href="/api/v1/openapi.json">
          openapi.json
        </a>
      </Head>
      <p className="soft small reference-lede">
        A token goes along as <code>Authorization: Bearer TOKEN</code>;{" "}
        <code>mitigauge token create NAME --role viewer</code> makes one. The package has a client
        in Python: <code>from mitigauge.client import Client</code>.
      </p>
      <div className="filters" role="search" aria-label="API reference">
        <label className="small picked">
          Find{" "}
          <input
            className="field"
            type="search"
            value={text}
            placeholder="address, name or words"
            onChange={({ target }) => {
              setSearch(target.value === "" ? {} : { find: target.value }, { replace: true });
            }}
          />
        </label>
        <span className="soft small shown" role="status">
          {counted(shown.length, "route")}
        </span>
      </div>
      {shown.length === 0 && <p className="panel inside soft">No route has all of these words.</p>}
      {tags.map((tag) => (
        <section className="panel" key={tag} aria-labelledby={`tag-${tag}`}>
          <header>
            <h2 id={`tag-${tag}`}>{tag}</h2>
          </header>
          {shown
            .filter((route) => route.tag === tag)
            .map((route) => (
              <One
                key={`${route.method} ${route.path}`}
                route={route}
                schemas={document.components.schemas}
              />
            ))}
        </section>
      ))}
    </>
  );
}

interface OneProps {
  route: Route;
  schemas: Record<string, Schema>;
}

function One({ route, schemas }: OneProps) {
  const [open, setOpen] = useState(false);
  const { method, path, operation } = route;
  const [brief = "", ...rest] = (operation.description ?? "").split("\n\n");
  return (
    <details
      className="route"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        <span className="method mono" data-method={method}>
          {method}
        </span>{" "}
        <span className="mono path">{path}</span> <span className="soft small">{brief}</span>
      </summary>
      {open && (
        <div className="inside">
          {rest.map((part) => (
            <p key={part}>{part}</p>
          ))}
          <Parameters parameters={operation.parameters ?? []} />
          <Bodies title="Body" content={operation.requestBody?.content} schemas={schemas} />
          {Object.entries(operation.responses)
            .filter(([code]) => code.startsWith("2"))
            .map(([code, response]) => (
              <Bodies
                key={code}
                title={`Answers ${code}`}
                content={response.content}
                schemas={schemas}
              />
            ))}
          <h3>Example</h3>
          <pre className="raw" tabIndex={0} aria-label={`Example of ${method} ${path}`}>
            {curl(route, window.location.origin)}
          </pre>
          <p className="faint small">
            In Python: <code>client.{operation.operationId}(…)</code>
          </p>
        </div>
      )}
    </details>
  );
}

function Parameters({ parameters }: { parameters: Parameter[] }) {
  if (parameters.length === 0) return null;
  return (
    <>
      <h3>Parameters</h3>
      <dl className="fields">
        {parameters.map((each) => (
          <div key={`${each.in} ${each.name}`}>
            <dt>
              <code>{each.name}</code>{" "}
              <span className="faint small">
                {each.in === "path" ? "in the address" : each.required ? "required" : "optional"}
              </span>
            </dt>
            <dd>
              <span className="soft">{typeOf(each.schema)}</span>{" "}
              {each.description ?? each.schema.description ?? ""}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

interface BodiesProps {
  title: string;
  content: Record<string, { schema?: Schema }> | undefined;
  schemas: Record<string, Schema>;
}

function Bodies({ title, content, schemas }: BodiesProps) {
  const entries = Object.entries(content ?? {});
  if (entries.length === 0) return null;
  return entries.map(([kind, { schema }]) => (
    <div key={kind}>
      <h3>
        {title}{" "}
        <span className="faint small">
          {kind}: {typeOf(schema)}
        </span>
      </h3>
      {namesIn(schema).map((name) => (
        <Shape key={name} name={name} schemas={schemas} depth={0} />
      ))}
    </div>
  ));
}

interface ShapeProps {
  name: string;
  schemas: Record<string, Schema>;
  depth: number;
}

/** The fields of a shape; those within it open on their own. */
function Shape({ name, schemas, depth }: ShapeProps) {
  const [open, setOpen] = useState(depth === 0);
  const schema = schemas[name];
  if (schema?.properties === undefined)
    return schema?.enum === undefined ? null : (
      <p className="small soft">
        {name}: {typeOf(schema)}
      </p>
    );
  return (
    <details
      className="shape"
      open={open}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        <strong>{name}</strong> <span className="soft small">{schema.description ?? ""}</span>
      </summary>
      {open && (
        <dl className="fields">
          {Object.entries(schema.properties).map(([field, of]) => (
            <div key={field}>
              <dt>
                <code>{field}</code>
              </dt>
              <dd>
                <span className="soft">{typeOf(of)}</span> {of.description ?? ""}
                {namesIn(of).map((inner) => (
                  <Shape key={inner} name={inner} schemas={schemas} depth={depth + 1} />
                ))}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}
