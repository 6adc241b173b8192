import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CHECKOUT, importBuilt, run, setUp } from './setup.mjs';

// Each service rebuilds its own projection, in its own process.
const PROJECTIONS = ['orders', 'payments'];

const HELP = `
Read models, built from the event store:

  projections rebuild [${PROJECTIONS.join('|')}]   rebuild into a shadow table, then replace the live table, without downtime
  projections verify [${PROJECTIONS.join('|')}]    compare each row with a replay; exit code 1 if they differ
  projections parked [${PROJECTIONS.join('|')}]    list the streams that wait because an event cannot be handled; exit code 1 if any

For auditors, read from the event store:

  audit verify [orders|payments]    check for changed or missing events, orders that differ from their payments,
                                    and differing rows; exit code 1 if found
  audit verify [orders|payments] --since FILE
                                    check only streams that changed since FILE was written, all if there is no FILE;
                                    write FILE if all is well
  audit export [orders|payments]    print every event as a line of JSON, stream by stream, without deleted orders

Dead letters, Kafka messages that a consumer group could not process:

  dlq list                             show the number of pending dead letters of each topic
  dlq show TOPIC [--offset N]          show the pending dead letters with their reasons, or one with its value
  dlq redrive TOPIC [--through N]      publish them again for the group that could not process them
  dlq discard TOPIC --through N        mark them as completed without publishing them

After an engine came back from a backup; both work on orders and payments, one after the other:

  store reconcile [--apply] [--folder F]   show which rows, deliveries and messages have no event in the event store, and list them
                                           in a file in folder F; --apply makes the services follow this event store
  store republish --since TIME             publish every event recorded since TIME to Kafka again, under the same ids

Chains that are read for deposits:

  chains status                            show how far each chain was read; exit code 1 if one halted or stalled
  chains rescan --network N --from HEIGHT [--apply]
                                           show what differs from this block on; --apply applies it. Of a halted chain:
                                           accept what the nodes show now, and end the halt
  chains balances [--all]                  print what assigned addresses received, with derivation paths, as CSV

Money that came for no known order:

  unclaimed list                           print it as CSV; exit code 1 if there is any
  unclaimed show PAYMENT                   print every recorded event of a payment as a line of JSON
  unclaimed assign PAYMENT --order O|--merchant M --reason TEXT [--as PERSON]
                                           give it to an order, which decides on it, or to a merchant; for good
  unclaimed return PAYMENT --reason TEXT [--tx HASH] [--as PERSON]
                                           record that it went back to its sender; for good

The schemas of PostgreSQL, for services with roles of their own:

  migrate                              as the owner in DATABASE_URL: bring every schema up to date, and grant the roles of the
                                       services what they need

The environment to which data belongs; a service of another environment does not start on it:

  environment show                     show the stamp of each database schema and of the event store
  environment stamp                    stamp those without a stamp with ENVIRONMENT; an existing stamp never changes
`;

// The reader, such as `head`, closed the pipe: end without a stack trace, as after SIGPIPE.
process.stdout.on('error', () => process.exit(141));
await setUp();
if (!process.env.DATABASE_URL && !process.env.DATABASE_URL_FILE) {
  // The environment that "npm start" last gave to its services. The caller's variables override it.
  const folder = resolve(CHECKOUT, process.env.DATA_DIR || '.data');
  const file = join(folder, 'environment.json');
  if (!existsSync(file)) {
    process.stderr.write(`${file} does not exist: run "npm start" first, or set DATABASE_URL\n`);
    process.exit(1);
  }
  for (const [name, value] of Object.entries(JSON.parse(readFileSync(file, 'utf8')))) process.env[name] ||= value;
  const sandbox = join(folder, 'sandbox.json');
  if (process.argv[2] === 'webhooks' && existsSync(sandbox)) {
    const { base_url, api_key } = JSON.parse(readFileSync(sandbox, 'utf8'));
    const isGiven = (/** @type {string} */ option) =>
      process.argv.some((arg) => arg === option || arg.startsWith(`${option}=`));
    if (!isGiven('--api')) process.argv.push('--api', base_url);
    if (!isGiven('--key')) process.argv.push('--key', api_key);
  }
}

const args = process.argv.slice(2);
const [noun = '', verb = ''] = args;
const isPerProjection = noun === 'projections' || (noun === 'audit' && ['verify', 'export'].includes(verb));
if (noun === 'migrate' && args.length === 1)
  for (const service of ['gateway', 'orders', 'payments', 'webhook-dispatcher']) {
    process.exitCode = await run(process.execPath, [join(CHECKOUT, `services/${service}/dist/migrate.js`)]);
    if (process.exitCode !== 0) break;
  }
else if (noun === 'store' && !args.includes('--help')) await forEachService(PROJECTIONS, args);
else if (isPerProjection && !args.includes('--help')) await forEachProjection(noun, verb, args.slice(2));
else if (['dlq', 'environment'].includes(noun) && !args.includes('--help'))
  process.exitCode = await run(process.execPath, [join(CHECKOUT, 'services/orders/dist/admin.js'), ...args]);
else if (['chains', 'unclaimed'].includes(noun) && !args.includes('--help'))
  process.exitCode = await run(process.execPath, [join(CHECKOUT, 'services/payments/dist/admin.js'), ...args]);
else {
  await importBuilt('services/gateway/dist/admin.js');
  if (args.length === 0 || args.includes('--help')) process.stdout.write(HELP);
}

/** @type {(noun: string, verb: string, words: string[]) => Promise<void>} */
async function forEachProjection(noun, verb, words) {
  const since = words.findIndex((word) => word === '--since' || word.startsWith('--since='));
  const isSince = noun === 'audit' && verb === 'verify' && since >= 0;
  const options = isSince ? words.splice(since, words[since] === '--since' ? 2 : 1) : [];
  const names = words;
  const unknown = names.find((name) => !PROJECTIONS.includes(name));
  if (unknown !== undefined || names.length > 1) {
    process.stderr.write(
      `unknown projection: ${unknown ?? names.join(' ')} (known: ${PROJECTIONS.join(', ')}; default: all)\n`,
    );
    process.exit(2);
  }
  await forEachService(names.length > 0 ? names : PROJECTIONS, [noun, verb, ...options]);
}

/** @type {(names: readonly string[], command: readonly string[]) => Promise<void>} */
async function forEachService(names, command) {
  for (const name of names) {
    const code = await run(process.execPath, [join(CHECKOUT, `services/${name}/dist/admin.js`), ...command]);
    process.exitCode = Math.max(Number(process.exitCode ?? 0), code);
  }
}
