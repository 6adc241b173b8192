import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { COMMANDS, OVERVIEW } from '../../../../scripts/admin-commands.mjs';

const CHECKOUT = fileURLToPath(new URL('../../../../', import.meta.url));
const SLOW = 120_000;

/** Without a setting: help and mistakes need none. */
const env = { PATH: process.env.PATH };
const helpOf = (service: string, ...command: string[]): string =>
  execFileSync(process.execPath, [`${CHECKOUT}services/${service}/dist/admin.js`, ...command, '--help'], {
    env,
    encoding: 'utf8',
  });
/** The names below "Commands:" of a help. */
const commandsIn = (help: string): string[] =>
  [...(help.split('Commands:\n')[1] ?? '').matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name!);

test.each(['gateway', 'orders', 'payments'])(
  'every command of %s is in the overview, and its help has examples',
  (service) => {
    const listed = Object.values(COMMANDS)
      .flat()
      .filter(([, services]) => services.includes(service))
      .map(([name]) => name);
    const names = commandsIn(helpOf(service));
    expect(names.toSorted()).toEqual(listed.toSorted());
    for (const name of names)
      for (const verb of commandsIn(helpOf(service, name)))
        expect(helpOf(service, name, verb)).toMatch(
          new RegExp(`^Usage: npm run admin -- ${name} ${verb} [^]*Examples:\n {2}npm run admin -- ${name} ${verb}`),
        );
  },
  SLOW,
);

test.each([
  [['keyz'], 64, "error: there is no command 'keyz'\n\nUsage: npm run admin -- <command>"],
  [['migrate', 'now'], 64, 'error: migrate takes no argument and no option'],
])('`npm run admin -- %s` ends with %i and says what is wrong', (args, code, message) => {
  const { status, stderr } = spawnSync(process.execPath, [`${CHECKOUT}scripts/admin.mjs`, ...args], {
    env,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: code, stderr: expect.stringContaining(message) });
});

test('`npm run admin` lists the commands', () => {
  const printed = execFileSync(process.execPath, [`${CHECKOUT}scripts/admin.mjs`], { env, encoding: 'utf8' });
  expect(printed).toBe(OVERVIEW);
});
