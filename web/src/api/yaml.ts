/** A body that is YAML: sent as the text that it is. */

export const AS_YAML = {
  headers: { "Content-Type": "application/yaml" },
  bodySerializer: (text: unknown) => String(text),
};
