/** Light, dark, or whatever the system says; public/theme.js applies it before first paint. */

import { useState } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "mitigauge-theme";

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(stored);
  const choose = (next: Theme) => {
    if (next === "system") {
      localStorage.removeItem(KEY);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(KEY, next);
      document.documentElement.dataset.theme = next;
    }
    setTheme(next);
  };
  return [theme, choose];
}
