/** Fields of an action. */

import { useId } from "react";

export type Values = Record<string, string>;

export interface WantedField {
  name: string;
  label: string;
  kind?: "text" | "number" | "long" | "choice";
  /** What may be chosen: value and words. */
  choices?: [string, string][];
  initial?: string;
  placeholder?: string;
  required?: boolean;
  most?: number;
  least?: number;
}

export function valuesOf(fields: WantedField[]): Values {
  return Object.fromEntries(fields.map((field) => [field.name, field.initial ?? ""]));
}

interface FieldsProps {
  fields: WantedField[];
  values: Values;
  change: (name: string, value: string) => void;
}

export function Fields({ fields, values, change }: FieldsProps) {
  const form = useId();
  return fields.map((field) => (
    <div key={field.name} className="wanted">
      <label htmlFor={`${form} ${field.name}`}>{field.label}</label>
      <Control
        id={`${form} ${field.name}`}
        field={field}
        value={values[field.name] ?? ""}
        change={(value) => {
          change(field.name, value);
        }}
      />
    </div>
  ));
}

interface ControlProps {
  id: string;
  field: WantedField;
  value: string;
  change: (value: string) => void;
}

function Control({ id, field, value, change }: ControlProps) {
  const { kind = "text", choices = [], placeholder, required, most, least } = field;
  const shared = {
    id,
    className: "field",
    value,
    required,
    onChange: (event: { target: { value: string } }) => {
      change(event.target.value);
    },
  };
  if (kind === "choice")
    return (
      <select {...shared}>
        {choices.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    );
  if (kind === "long")
    return <textarea {...shared} rows={3} maxLength={most ?? 4000} placeholder={placeholder} />;
  if (kind === "number")
    return (
      <input
        {...shared}
        type="number"
        step="any"
        min={least}
        max={most}
        placeholder={placeholder}
      />
    );
  return <input {...shared} maxLength={most ?? 500} placeholder={placeholder} />;
}
