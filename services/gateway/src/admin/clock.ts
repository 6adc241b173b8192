import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import { newestBlocks, type Pool } from '@cpg/platform/postgres';
import { checkSigned, parseInstant, type Signature } from './command.ts';

/** The time that an operator names comes from a watch. */
const NEAR_MS = 2 * 60_000;

interface Clocks {
  readonly pool: Pool;
  readonly now: () => Date;
}

export const addClockCommands = (program: AdminCommand, withClocks: RunWith<Clocks>): void => {
  const clock = program.command('clock').description('the clocks of the machines');
  clock
    .command('show')
    .description('print the clocks, to compare them with a watch')
    .examples('clock show')
    .runs(() => withClocks(({ pool, now }) => showClocks(pool, now)));
  clock
    .command('confirm')
    .description('say that this is the time now: what waits for the clock goes on')
    .argument('<time>', 'the time of your watch, such as 2026-01-31T12:00:00Z')
    .requiredOption('--by <person>', 'who confirms it')
    .requiredOption('--reason <text>', 'why, for auditors')
    .examples('clock confirm 2026-01-31T12:00:00Z --by Ana --reason "NTP was corrected"')
    .runs((time: string, signature: Signature) =>
      withClocks(({ pool, now }) => confirmClock(pool, now, { time, ...signature })),
    );
};

/** Prints the clocks of this machine and of PostgreSQL, and the newest blocks, to compare with a watch. */
const showClocks = async (pool: Pool, now: () => Date): Promise<string> => {
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  const blocks = (await newestBlocks(pool)).flatMap(({ network, time }) =>
    time === null ? [] : [['newest block', time, network] as const],
  );
  const clocks = [['this machine', now(), ''] as const, ['PostgreSQL', rows[0]!.now, ''] as const, ...blocks];
  return clocks.map(([name, time, of]) => `${name.padEnd(14)}${time.toISOString()}  ${of}`.trimEnd()).join('\n');
};

interface ClockConfirmation extends Signature {
  readonly time: string;
}

/** Records that an operator calls a time right. The processes whose clock shows it, within two minutes, trust it. */
const confirmClock = async (pool: Pool, now: () => Date, { time, by, reason }: ClockConfirmation): Promise<string> => {
  const right = parseInstant('time', time);
  checkSigned({ by, reason }, 'confirms the time');
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  const clocks = [now(), rows[0]!.now];
  if (!clocks.some((clock) => Math.abs(clock.getTime() - right.getTime()) <= NEAR_MS))
    throw new CommandError(
      `${time} is more than two minutes from the clocks of PostgreSQL and of this machine: compare with clock show, and set the wrong clock`,
    );
  await pool.query(
    `insert into gateway.clock_confirmations (confirmed_at, ahead_ms, confirmed_by, reason)
     values (clock_timestamp(), extract(epoch from $1::timestamptz - clock_timestamp()) * 1000, $2, $3)`,
    [right, by, reason],
  );
  return 'confirmed: processes whose clock shows this time trust it within ten seconds';
};
