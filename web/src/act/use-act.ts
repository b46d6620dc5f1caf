/** Something that is done once, however often it is pressed. */

import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";

interface Act<V, T> {
  run: (values: V) => Promise<T>;
  done?: (answer: T) => unknown;
  /** After a refusal as well. */
  settled?: () => unknown;
}

export function useAct<V, T>({ run, done, settled }: Act<V, T>) {
  // A second press comes before the page shows that the first one is under way.
  const begun = useRef(false);
  const mutation = useMutation({
    mutationFn: run,
    onSuccess: (answer) => done?.(answer),
    onError: () => {
      begun.current = false;
    },
    onSettled: () => settled?.(),
  });
  return {
    error: mutation.error,
    /** Under way, or done. */
    begun: mutation.isPending || mutation.isSuccess,
    act: (values: V) => {
      if (begun.current) return;
      begun.current = true;
      mutation.mutate(values);
    },
    /** Lets it be done again. */
    again: () => {
      begun.current = false;
      mutation.reset();
    },
  };
}
