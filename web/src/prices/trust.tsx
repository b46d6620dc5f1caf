import type { PriceTrust } from "../api/types";
import { Tag } from "../ui/tag";
import { TRUST } from "./words";

/** Whether prices told what they were not made of. */
export function TrustTag({ of }: { of: PriceTrust }) {
  const { label, meaning, tone } = TRUST[of];
  return <Tag tone={tone} text={label} title={meaning} />;
}
