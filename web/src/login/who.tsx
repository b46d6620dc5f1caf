/** Who one is, what that allows, and the way out. */

import { Link } from "wouter";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { personName } from "../format/person";
import { logOut, MAY, sessionKey, sessionQuery } from "./session";
import "./login.css";

export function Who({ onLogIn }: { onLogIn: () => void }) {
  const queries = useQueryClient();
  const { data: session, error } = useQuery({ ...sessionQuery(), enabled: false });
  const leaving = useMutation({
    mutationFn: logOut,
    onSettled: () => queries.resetQueries({ queryKey: sessionKey }),
  });
  if (session === undefined || error !== null) return null;
  if (session.means === "nothing")
    return (
      <div className="who">
        <span>everybody may read</span>
        <button type="button" className="button" onClick={onLogIn}>
          Log in
        </button>
      </div>
    );
  const role = `${session.role}: ${MAY[session.role]}`;
  return (
    <div className="who">
      <span title={role}>
        {personName(session.subject)}, <span className="faint">{session.role}</span>
        <span className="visually-hidden">, {MAY[session.role]}</span>
      </span>
      <Link to="/?tab=subscriptions">Subscriptions</Link>
      {session.means === "session" && (
        <button
          type="button"
          className="button"
          disabled={leaving.isPending}
          onClick={() => {
            leaving.mutate();
          }}
        >
          Log out
        </button>
      )}
    </div>
  );
}
