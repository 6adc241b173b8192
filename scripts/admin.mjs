import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { meantBy, OVERVIEW, servicesOf } from './admin-commands.mjs';
import { CHECKOUT, importBuilt, run, setUp } from './setup.mjs';

const MISTAKE = 64;

// The reader, such as `head`, closed the pipe: end without a stack trace, as after SIGPIPE.
process.stdout.on('error', () => process.exit(141));
const args = process.argv.slice(2);
const [name = '--help', verb = ''] = args;
const services = servicesOf(args);
const wantsHelp = args.some((arg) => arg === '--help' || arg === '-h');

if (['--help', '-h', 'help'].includes(name) || (name === 'migrate' && wantsHelp)) process.stdout.write(OVERVIEW);
else if (!services) mistake(`there is no command '${name.length < 40 ? name : '…'}'${hintFor(name)}`);
else if (name === 'migrate' && args.length > 1) mistake('migrate takes no argument and no option');
else {
  await setUp();
  readEnvironment();
  if (name === 'migrate') await migrate();
  else if (services.includes('gateway')) await importBuilt('services/gateway/dist/admin.js');
  else await runIn(services);
}

/** @type {(name: string) => string} */
function hintFor(name) {
  const meant = meantBy(name);
  return meant ? `: did you mean ${meant}?` : '';
}

/** @type {(message: string) => void} */
function mistake(message) {
  process.stderr.write(`error: ${message}\n\n${OVERVIEW}`);
  process.exitCode = MISTAKE;
}

/** Sets the environment that "npm start" last gave to its services. The caller's variables override it. */
function readEnvironment() {
  if (wantsHelp || process.env.DATABASE_URL || process.env.DATABASE_URL_FILE) return;
  const folder = resolve(CHECKOUT, process.env.DATA_DIR || '.data');
  const file = join(folder, 'environment.json');
  if (!existsSync(file)) {
    process.stderr.write(`${file} does not exist: run "npm start" first, or set DATABASE_URL\n`);
    process.exit(1);
  }
  for (const [variable, value] of Object.entries(JSON.parse(readFileSync(file, 'utf8'))))
    process.env[variable] ||= value;
  const sandbox = join(folder, 'sandbox.json');
  if (name === 'webhooks' && ['listen', 'remove'].includes(verb) && existsSync(sandbox)) {
    const { base_url, api_key } = JSON.parse(readFileSync(sandbox, 'utf8'));
    const isGiven = (/** @type {string} */ option) =>
      process.argv.some((arg) => arg === option || arg.startsWith(`${option}=`));
    if (!isGiven('--api')) process.argv.push('--api', base_url);
    if (!isGiven('--key')) process.argv.push('--key', api_key);
  }
}

async function migrate() {
  for (const service of ['gateway', 'orders', 'payments', 'webhook-dispatcher']) {
    process.exitCode = await run(process.execPath, [join(CHECKOUT, `services/${service}/dist/migrate.js`)]);
    if (process.exitCode !== 0) break;
  }
}

/** Runs the command in each service. The first says what is wrong with the command line.
 *  @type {(services: readonly string[]) => Promise<void>} */
async function runIn(services) {
  for (const service of services) {
    const code = await run(process.execPath, [join(CHECKOUT, `services/${service}/dist/admin.js`), ...args]);
    process.exitCode = Math.max(Number(process.exitCode ?? 0), code);
    if (code === MISTAKE || wantsHelp) break;
  }
}
