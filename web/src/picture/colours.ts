/** The colours of the theme in force, for drawings that are made without the page. */

export interface Colours {
  ink: string;
  soft: string;
  line: string;
  ground: string;
  better: string;
  worse: string;
}

export type Tone = Exclude<keyof Colours, "ground">;

export function readColours(): Colours {
  const probe = document.createElement("span");
  document.body.append(probe);
  const colour = (token: string) => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    ink: colour("--ink"),
    soft: colour("--ink-soft"),
    line: colour("--line-strong"),
    ground: colour("--surface"),
    better: colour("--better"),
    worse: colour("--worse"),
  };
  probe.remove();
  return colours;
}
