import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const api = process.env.MITIGAUGE_API ?? "http://127.0.0.1:8600";

export default defineConfig({
  plugins: [react()],
  server: { host: "127.0.0.1", proxy: { "/api": api } },
  build: {
    // light-dark() and nested rules reach the browser as written.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // A data: font would need font-src in the content security policy.
    assetsInlineLimit: 0,
  },
  // One world for all files: a world each takes 40 s of 45.
  test: { include: ["src/**/*.test.ts"], isolate: false },
});
