import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { COMMANDS, OVERVIEW, servicesOf } from '../../../../scripts/admin-commands.mjs';

const CHECKOUT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Without a setting: help and mistakes need none. */
const env = { PATH: process.env.PATH };
/** The names below "Commands:" of the help of a service. */
const commandsOf = (service: string): string[] => {
  const admin = `${CHECKOUT}services/${service}/dist/admin.js`;
  const help = execFileSync(process.execPath, [admin, '--help'], { env, encoding: 'utf8' });
  return [...help.split('Commands:\n')[1]!.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name!);
};

test.each(['gateway', 'orders', 'payments'])('the overview lists every command of %s', (service) => {
  const listed = Object.values(COMMANDS)
    .flat()
    .filter(([, services]) => services.includes(service))
    .map(([name]) => name);
  expect(commandsOf(service).sort()).toEqual(listed.sort());
});

test.each([
  [['keyz'], 64, "error: there is no command 'keyz': did you mean keys?\n\nUsage: npm run admin -- <command>"],
  [['refund-address'], 64, "there is no command 'refund-address': did you mean refund-addresses?"],
  [['payments'], 64, "error: there is no command 'payments'\n\n"],
  [['migrate', 'now'], 64, 'error: migrate takes no argument and no option'],
])('`npm run admin -- %s` ends with %i and says what is wrong', (args, code, message) => {
  const { status, stderr } = spawnSync(process.execPath, [`${CHECKOUT}scripts/admin.mjs`, ...args], {
    env,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: code, stderr: expect.stringContaining(message) });
});

test('the overview describes every command in one column', () => {
  const columns = Object.values(COMMANDS)
    .flat()
    .map(([name, , about]) =>
      OVERVIEW.split('\n')
        .find((line) => line.startsWith(`  ${name} `))
        ?.indexOf(about),
    );
  expect(new Set(columns).size).toBe(1);
});

test('`npm run admin` lists the commands', () => {
  const printed = execFileSync(process.execPath, [`${CHECKOUT}scripts/admin.mjs`], { env, encoding: 'utf8' });
  expect(printed).toBe(OVERVIEW);
});

test.each([
  ['store reconcile --folder orders', ['orders', 'payments']],
  ['audit verify --since payments', ['orders', 'payments']],
  ['audit verify --since=orders payments', ['payments']],
  ['audit verify --since orders payments', ['payments']],
  ['audit verify payments --since orders', ['payments']],
  ['projections rebuild orders', ['orders']],
  ['projections rebuild', ['orders', 'payments']],
  ['dlq list --topic payments', ['orders']],
])('`npm run admin -- %s` runs in %j', (line, services) => {
  expect(servicesOf(line.split(' '))).toEqual(services);
});
