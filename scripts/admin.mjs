import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CHECKOUT, run, setUp } from './setup.mjs';

// Whoever owns a projection rebuilds it, in a process of its own.
const PROJECTIONS = ['orders', 'payments'];

const HELP = `
Read models, made from the event store.

  projections rebuild [${PROJECTIONS.join('|')}]   makes it anew beside the live one, and swaps them, while everything runs
  projections verify [${PROJECTIONS.join('|')}]    compares each row with a replay; exit code 1 when there are differences

For auditors, read from the event store itself.

  audit verify [orders|payments]    whether any event was changed or left out, and any row differs; exit code 1 when so
  audit export [orders|payments]    every event as a line of JSON, stream after stream; nothing of deleted orders

Messages on Kafka that somebody could not process.

  dlq list                             how many wait on the dead-letter topic of each topic
  dlq show TOPIC [--offset N]          each of them and why, or all of one
  dlq redrive TOPIC [--through N]      publishes them again, oldest first, for who could not process them
  dlq discard TOPIC --through N        gives them up
`;

await setUp();
if (!process.env.DATABASE_URL) {
  // What "npm start" gave its services last, in its data folder; the caller's own variables go over it.
  const folder = resolve(CHECKOUT, process.env.DATA_DIR || '.data');
  const file = join(folder, 'environment.json');
  if (!existsSync(file)) {
    process.stderr.write(`there is no ${file}: run "npm start" first, or set DATABASE_URL\n`);
    process.exit(1);
  }
  for (const [name, value] of Object.entries(JSON.parse(readFileSync(file, 'utf8')))) process.env[name] ||= value;
  const sandbox = join(folder, 'sandbox.json');
  if (process.argv[2] === 'webhooks' && existsSync(sandbox)) {
    const { base_url, api_key } = JSON.parse(readFileSync(sandbox, 'utf8'));
    if (!process.argv.includes('--api')) process.argv.push('--api', base_url);
    if (!process.argv.includes('--key')) process.argv.push('--key', api_key);
  }
}

const args = process.argv.slice(2);
const isForEach = args[0] === 'projections' || (args[0] === 'audit' && ['verify', 'export'].includes(args[1]));
if (isForEach && !args.includes('--help')) await forEachProjection(args);
else if (args[0] === 'dlq' && !args.includes('--help'))
  process.exitCode = await run(process.execPath, [join(CHECKOUT, 'services/orders/dist/admin.js'), ...args]);
else {
  await import('../services/gateway/dist/admin.js');
  if (args.length === 0 || args.includes('--help')) process.stdout.write(HELP);
}

async function forEachProjection([noun, verb = '', ...names]) {
  const unknown = names.find((name) => !PROJECTIONS.includes(name));
  if (unknown !== undefined || names.length > 1) {
    process.stderr.write(
      `${unknown ?? names.join(' ')} is no projection: name one of ${PROJECTIONS.join(', ')}, or none for all\n`,
    );
    process.exit(2);
  }
  for (const name of names.length > 0 ? names : PROJECTIONS) {
    const code = await run(process.execPath, [join(CHECKOUT, `services/${name}/dist/admin.js`), noun, verb]);
    process.exitCode = Math.max(Number(process.exitCode ?? 0), code);
  }
}
