/** Letting somebody in. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { logIn, sessionKey, type Credential } from "./session";

/** Logs in; what was shown to somebody else before is forgotten. */
export function useLogIn(onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (credential: Credential) => logIn(credential),
    onSuccess: (session) => {
      queries.removeQueries({ predicate: (query) => query.queryKey[0] !== sessionKey[0] });
      queries.setQueryData(sessionKey, session);
      onDone();
    },
  });
}
