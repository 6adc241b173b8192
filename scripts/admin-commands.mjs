import { parseArgs } from 'node:util';

/** The services that have read models and event streams of their own. */
const STREAM_OWNERS = /** @type {const} */ (['orders', 'payments']);

/** The commands of operators by subject: name, the services whose `dist/admin.js` has it, and what it is about.
 *  @type {Readonly<Record<string, readonly (readonly [string, readonly string[], string])[]>>} */
export const COMMANDS = {
  Merchants: [
    ['merchants', ['gateway'], 'create, list, show, change, disable and enable merchants'],
    ['keys', ['gateway'], 'create, list, change, rotate and revoke API keys'],
    ['users', ['gateway'], 'create, list, disable and enable users, and make links to sign in'],
    ['payment-page', ['gateway'], 'name, color and logo that payers see'],
    ['accounts', ['gateway'], 'extended public keys of merchants, whose addresses receive their deposits'],
    ['confirmations', ['gateway'], 'how many confirmations the payments of a merchant need'],
    ['tolerance', ['gateway'], 'how much may be missing of the orders of a merchant'],
    ['refund-addresses', ['gateway'], 'addresses from which a merchant sends refunds that are proven on chain'],
  ],
  'Events and money, for operators and auditors': [
    ['orders', ['gateway'], 'the history of one order, and the order at a time'],
    ['audit', STREAM_OWNERS, 'verify and export the events of all orders and payments'],
    ['unclaimed', ['payments'], 'money that came for no known order: list, assign, return'],
    ['chains', ['payments'], 'the chains that are read for deposits: status, rescans, balances, reports'],
  ],
  Operation: [
    ['projections', STREAM_OWNERS, 'read models: rebuild, verify, and streams that wait'],
    ['store', STREAM_OWNERS, 'after a restore: reconcile with the event store, publish again'],
    ['dlq', ['orders'], 'dead letters: list, show, redrive, discard'],
    ['secrets', ['gateway'], 'what still needs earlier encryption keys and peppers'],
    ['clock', ['gateway'], 'show the clocks, and confirm the time'],
    ['environment', ['orders'], 'whether stores belong to the sandbox or to production'],
    ['migrate', [], 'as the owner in DATABASE_URL: bring every schema up to date, and grant the roles what they need'],
  ],
  Development: [['webhooks', ['gateway'], 'forward webhooks of a sandbox to a server on this machine']],
};

/** The options of the commands of STREAM_OWNERS that take a value. Their value may be the name of a service. */
export const VALUE_OPTIONS = /** @type {const} */ (['folder', 'since']);

/** The services that run a command line: those that have the command, or the one that `[service]` names. Undefined for
 *  an unknown command.
 *  @type {(args: readonly string[]) => readonly string[] | undefined} */
export const servicesOf = (args) => {
  const services = Object.values(COMMANDS)
    .flat()
    .find(([known]) => known === args[0])?.[1];
  if (services !== STREAM_OWNERS) return services;
  const options = Object.fromEntries(
    VALUE_OPTIONS.map((option) => [option, { type: /** @type {const} */ ('string') }]),
  );
  const { positionals } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true });
  const named = STREAM_OWNERS.filter((service) => service === positionals[2]);
  return named.length > 0 ? named : services;
};

/** The command that begins like `name` and differs in its last two letters at most; undefined if there is none.
 *  @type {(name: string) => string | undefined} */
export const meantBy = (name) =>
  Object.values(COMMANDS)
    .flat()
    .map(([known]) => known)
    .find((known) => {
      let same = 0;
      while (same < name.length && name[same] === known[same]) same += 1;
      return same >= 3 && Math.max(name.length, known.length) - same <= 2;
    });

const NAME_WIDTH = Math.max(
  ...Object.values(COMMANDS)
    .flat()
    .map(([name]) => name.length),
);

export const OVERVIEW = `Usage: npm run admin -- <command>

Each command explains itself, with examples: npm run admin -- keys --help, npm run admin -- keys create --help
${Object.entries(COMMANDS)
  .map(
    ([subject, commands]) =>
      `\n${subject}:\n${commands.map(([name, , about]) => `  ${name.padEnd(NAME_WIDTH)}  ${about}`).join('\n')}`,
  )
  .join('\n')}

Exit codes: 0; 1 if a check found something; 2 for a failure; 64 for a mistake on the command line.
`;
