/** Whether the boot is what was asked for: each claim with what was found. */

import type { ReactNode } from "react";
import type { Boot } from "../api/types";
import { Facts } from "../ui/facts";
import { BOOT_STATE } from "../words";

type Holds = "yes" | "no" | "unknown";
const SIGN: Record<Holds, string> = { yes: "✓", no: "✗", unknown: "○" };
const SAID: Record<Holds, string> = { yes: "proven", no: "not so", unknown: "not known" };

function Claim({ holds, claim, children }: { holds: Holds; claim: string; children: ReactNode }) {
  return (
    <li data-holds={holds}>
      <span className="sign" aria-hidden="true">
        {SIGN[holds]}
      </span>
      <div>
        <div className="claim">
          {claim}: <span className="said">{SAID[holds]}</span>
        </div>
        {children}
      </div>
    </li>
  );
}

function modeHolds(boot: Boot): Holds {
  if (boot.state === "not_effective") return "no";
  if (boot.state === "effective" || boot.state === "measuring") return "yes";
  return "unknown";
}

function nonceHolds(boot: Boot): Holds {
  if (boot.cmdline === null) return "unknown";
  return boot.cmdline.split(/\s+/).includes(`mitigauge.nonce=${boot.nonce}`) ? "yes" : "no";
}

function kernelHolds(boot: Boot): Holds {
  if (boot.state === "wrong_kernel") return "no";
  return boot.kernel_release === null || boot.kernel_boot_id === null ? "unknown" : "yes";
}

/** kexec puts 0xd into the upper four bits, boot loaders something else. */
function methodHolds(boot: Boot): Holds {
  if (boot.method === "within") return nonceHolds(boot);
  if (boot.loader_type === null) return "unknown";
  const method = boot.loader_type >> 4 === 0xd ? "kexec" : "reset";
  return method === boot.method ? "yes" : "no";
}

function startedBy(boot: Boot): string {
  if (boot.method === "within") return "The mode was applied within the boot of its block";
  return `The kernel was started by ${boot.method}`;
}

function Missing() {
  return <span className="faint">nothing was read</span>;
}

export function Proof({ boot }: { boot: Boot }) {
  return (
    <section className="panel" aria-labelledby="proof">
      <header>
        <h2 id="proof">Proof</h2>
        <span className="soft">{BOOT_STATE[boot.state].meaning}</span>
      </header>
      <div className="proof">
        <ul className="claims">
          <Claim holds={modeHolds(boot)} claim={`The mode ${boot.mode} was in force`}>
            <Facts
              items={[
                ["to be shown", <Strings key="e" texts={boot.expected} />],
                [
                  "kernel said",
                  boot.observed === null ? (
                    <Missing key="o" />
                  ) : (
                    <strong className="mono" key="o">
                      {boot.observed}
                    </strong>
                  ),
                ],
              ]}
            />
          </Claim>
          <Claim holds={nonceHolds(boot)} claim="This very boot was the one asked for">
            <Facts items={[["nonce", <code key="n">{boot.nonce}</code>]]} />
          </Claim>
          <Claim holds={methodHolds(boot)} claim={startedBy(boot)}>
            <Facts
              items={[
                [
                  "boot loader",
                  boot.loader_type === null ? null : (
                    <code key="l">type 0x{boot.loader_type.toString(16)}</code>
                  ),
                ],
              ]}
            />
          </Claim>
          <Claim holds={kernelHolds(boot)} claim="The wanted kernel came up anew">
            <Facts
              items={[
                ["release", boot.kernel_release && <code key="r">{boot.kernel_release}</code>],
                ["build id", boot.build_id && <code key="b">{boot.build_id}</code>],
                ["boot id", boot.kernel_boot_id && <code key="i">{boot.kernel_boot_id}</code>],
              ]}
            />
          </Claim>
        </ul>
        <div className="proof-rest">
          <Facts
            items={[
              ["microcode", boot.microcode && <code key="m">{boot.microcode}</code>],
              ["taint", boot.tainted === null ? null : taint(boot)],
            ]}
          />
          <div className="faint">kernel command line</div>
          <pre className="cmdline" tabIndex={0} aria-label="Kernel command line">
            {boot.cmdline ?? "absent"}
          </pre>
        </div>
      </div>
    </section>
  );
}

function taint(boot: Boot): string {
  if (boot.tainted === 0) return "0, not tainted";
  const why = boot.cmdline?.includes("setcpuid=") === true ? ", as setcpuid= does" : "";
  return `${boot.tainted ?? ""}, tainted${why}`;
}

function Strings({ texts }: { texts: string[] }) {
  return (
    <>
      {texts.map((text) => (
        <code key={text} className="line">
          {text}
        </code>
      ))}
    </>
  );
}
