import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import globals from "globals";
import ts from "typescript-eslint";

export default ts.config(
  { ignores: ["dist", "src/api/schema.d.ts", "test-results", "playwright-report"] },
  js.configs.recommended,
  {
    files: ["**/*.{ts,tsx}"],
    extends: [...ts.configs.strictTypeChecked, ...ts.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Names go in the order in which people count: src/format/natural.ts.
      "@typescript-eslint/require-array-sort-compare": ["error", { ignoreStringArrays: false }],
    },
  },
  {
    files: ["src/**/*.tsx", "src/**/*.ts"],
    extends: [hooks.configs.flat["recommended-latest"]],
    rules: {
      // Text from the API is hostile: it is only ever rendered as text.
      "no-restricted-syntax": [
        "error",
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Render text from the API as text.",
        },
      ],
    },
  },
  // Playwright asks for an object pattern where a fixture needs no other.
  { files: ["tests/**/*.ts"], rules: { "no-empty-pattern": "off" } },
  { files: ["public/*.js"], languageOptions: { globals: globals.browser } },
  {
    files: ["scripts/*.mjs", "bench/**/*.mjs", "*.js"],
    languageOptions: { globals: globals.node },
  },
  { files: ["bench/**/in-page.mjs"], languageOptions: { globals: globals.browser } },
);
