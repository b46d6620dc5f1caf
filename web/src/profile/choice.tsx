interface ChoiceProps<T extends string> {
  label: string;
  /** Value, its word, and what it means. */
  options: readonly (readonly [T, string, string?])[];
  value: T;
  choose: (value: T) => void;
}

/** One of a few, as buttons side by side. */
export function Choice<T extends string>({ label, options, value, choose }: ChoiceProps<T>) {
  return (
    <div className="choice">
      <span className="faint small">{label}</span>
      <div className="segments" role="group" aria-label={label}>
        {options.map(([option, word, meaning]) => (
          <button
            key={option}
            type="button"
            aria-pressed={option === value}
            title={meaning}
            onClick={() => {
              choose(option);
            }}
          >
            {word}
          </button>
        ))}
      </div>
    </div>
  );
}
