// An OpenID provider for tests: panva's oidc-provider, with people from a file.
//
// node provider.mjs PACKAGES PEOPLE PORT CLIENT SECRET REDIRECT PLACE
//
// PACKAGES is the directory whose node_modules has oidc-provider. PEOPLE is a JSON file that is
// read at each log-in: {"here": "alice", "people": {"alice": {"name": …, "groups": […]}}}; whoever
// is "here" sits before the browser and logs in without a page; null: nobody does. PLACE is where
// groups are named: "token", or "userinfo" alone. Each start has a signing key of its own.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, peopleFile, port, clientId, clientSecret, redirect, place] = process.argv.slice(2);
const required = createRequire(`${packages}/package.json`);
const { default: Provider } = await import(pathToFileURL(required.resolve("oidc-provider")).href);

const known = () => JSON.parse(readFileSync(peopleFile, "utf-8"));
const issuer = `http://127.0.0.1:${port}`;

const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirect],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  jwks: { keys: [{ ...key, kid: randomUUID(), use: "sig", alg: "RS256" }] },
  conformIdTokenClaims: place !== "token",
  claims: {
    openid: ["sub"],
    profile: ["preferred_username"],
    email: ["email", "email_verified"],
    groups: ["groups"],
  },
  scopes: ["openid", "profile", "email", "groups"],
  cookies: { keys: ["of the tests alone"] },
  features: { devInteractions: { enabled: false } },
  pkce: { required: () => true },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  async findAccount(_, sub) {
    const person = known().people[sub];
    if (person === undefined) return undefined;
    const claims = { sub, preferred_username: person.name, groups: person.groups };
    return { accountId: sub, claims: async () => claims };
  },
  // Nobody is asked for consent.
  async loadExistingGrant(ctx) {
    const { client, session } = ctx.oidc;
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope("openid profile email groups");
    await grant.save();
    return grant;
  },
});

provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith("/interaction/")) return next();
  const { here } = known();
  const result = here === null
    ? { error: "access_denied", error_description: "nobody is here" }
    : { login: { accountId: here, remember: false } };
  return provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
});

provider.listen(Number(port), "127.0.0.1", () => {
  process.stdout.write(`ready at ${issuer}\n`);
});
