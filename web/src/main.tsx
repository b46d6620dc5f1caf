// First, so that the style sheets of parts, imported with them, can refine these.
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/controls.css";
import "./styles/tables.css";
import "./styles/matrix.css";
import "./styles/print.css";

import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { makeQueryClient } from "./api/queries";
import { App } from "./app";
import { takeLinkKey } from "./login/session";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element with the id root");

const linkKey = takeLinkKey();

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={makeQueryClient()}>
      <App linkKey={linkKey} />
    </QueryClientProvider>
  </StrictMode>,
);
