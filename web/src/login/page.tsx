/** How one gets in. */

import { useState, type SyntheticEvent } from "react";
import { ApiError } from "../api/client";
import { Answer } from "../ui/answers";
import { useTitle } from "../ui/page";
import "./login.css";
import { useLogIn } from "./use-log-in";

function Refusal({ error }: { error: Error }) {
  return (
    <div role="alert" className="problem">
      <p>{error.message}</p>
      {error instanceof ApiError && error.hint !== "" && <p>{error.hint}</p>}
    </div>
  );
}

export function LogInPage({ why, onDone }: { why: Error | null; onDone: () => void }) {
  useTitle("Log in");
  const [token, setToken] = useState("");
  const entering = useLogIn(onDone);
  const refused = entering.error ?? why;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    entering.mutate({ token: token.trim() });
  };
  return (
    <Answer title="Log in">
      {refused !== null && !entering.isPending && <Refusal error={refused} />}
      <p>This service wants to know who asks. Afterwards you come to the page that you wanted.</p>
      <form className="log-in" onSubmit={submit}>
        <label htmlFor="token">Token</label>
        <input
          id="token"
          className="field"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          placeholder="mgt_…"
          value={token}
          onChange={(event) => {
            setToken(event.target.value);
          }}
        />
        <button type="submit" className="button" disabled={entering.isPending}>
          Log in
        </button>
      </form>
      <p>A token is made on the machine where the service runs:</p>
      <pre tabIndex={0}>mitigauge token create NAME --role viewer</pre>
      <p>
        On that machine itself none is needed: open the link that <code>mitigauge serve</code>{" "}
        printed when it started.
      </p>
    </Answer>
  );
}
